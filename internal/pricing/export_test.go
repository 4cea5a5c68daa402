package pricing

// Len is how many entries the cache holds.
func (c *Cache) Len() int { return len(c.entries) + len(c.seen) }
