-- KEYS: epoch. ARGV: a token.
return epoch_now(KEYS[1], ARGV[1], true)
