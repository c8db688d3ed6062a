"""Random questions and hostile replies to them, with a judge that shares nothing with Askback."""
