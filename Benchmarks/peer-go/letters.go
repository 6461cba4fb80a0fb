// Letters of ids and flags.
package main

// lowerASCII lowers A to Z alone: other letters have lower case letters in ASCII too (D46).
func lowerASCII(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] < 'A' || s[i] > 'Z' {
			continue
		}
		b := []byte(s)
		for k := i; k < len(b); k++ {
			if b[k] >= 'A' && b[k] <= 'Z' {
				b[k] += 'a' - 'A'
			}
		}
		return string(b)
	}
	return s
}

func all(s string, is *[256]bool) bool {
	for i := 0; i < len(s); i++ {
		if !is[s[i]] {
			return false
		}
	}
	return true
}

var (
	isSafeInURL = letters("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
	isHex       = letters("0123456789abcdefABCDEF")
)

func letters(s string) *[256]bool {
	var is [256]bool
	for i := 0; i < len(s); i++ {
		is[s[i]] = true
	}
	return &is
}
