"""The commands of `askback`, one module for each; `main` gets the words after its name."""
