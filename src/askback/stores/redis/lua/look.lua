-- KEYS: memory. ARGV: a token.
return memory_now(KEYS[1], ARGV[1], true)
