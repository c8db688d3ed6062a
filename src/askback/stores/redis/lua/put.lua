-- KEYS: rows, due. ARGV: where rows lie, the row, now, value, until, life.
tidy(ARGV[1], KEYS[1], KEYS[2], ARGV[3], FEW)
shelve(ARGV[1], ARGV[2], KEYS[1], KEYS[2], ARGV[4], ARGV[5], ARGV[6])
