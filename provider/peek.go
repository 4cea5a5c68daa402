package provider

// peek finds members of an object at the start of b without checking that it is JSON. It stops when all are found.
func peek(b []byte, names []string) []JSON {
	found := make([]JSON, len(names))
	i := blank(b, 0)
	if i == len(b) || b[i] != '{' {
		return found
	}
	for i++; ; i++ {
		i = blank(b, i)
		end := skip(b, i)
		name := b[i:end]
		if i = blank(b, end); i == len(b) || b[i] != ':' {
			return found
		}
		i = blank(b, i+1)
		end = skip(b, i)
		if take(found, names, name, b[i:end]) {
			return found
		}
		if i = blank(b, end); i == len(b) || b[i] != ',' {
			return found
		}
	}
}

// take keeps a value whose name is asked for, and reports whether nothing is missing any more.
func take(found []JSON, names []string, quoted, value []byte) (all bool) {
	name := JSON(quoted).Text()
	all = true
	for i, n := range names {
		if n == name {
			found[i] = value
		}
		all = all && found[i] != nil
	}
	return all
}

// blank returns the position of the first byte from i on that is no white space.
func blank(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// skip returns the position behind the value at i, if it is one.
func skip(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			i = skipQuoted(b, i+1)
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		case ',', ':', ' ', '\n', '\r', '\t':
			if depth == 0 {
				return i
			}
			i++
			continue
		default:
			i++
			if depth == 0 {
				continue
			}
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

// skipQuoted returns the position behind the quote that ends the string whose inside begins at i.
func skipQuoted(b []byte, i int) int {
	for i = special(b, i); i < len(b); i = special(b, i) {
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			i = min(i+2, len(b))
		default:
			i++
		}
	}
	return i
}
