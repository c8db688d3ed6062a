"""From a word on the command line to a server: addresses, commands and the entries of mcp.json files."""
