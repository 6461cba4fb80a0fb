package sightline

import (
	"errors"
	"fmt"
	"strings"
)

// checkTarget refuses what gRPC would look for without an end.
func checkTarget(target string) error {
	if target == "" {
		return errors.New("sightline: the target is empty: give HOST:PORT, such as 127.0.0.1:50051")
	}
	for _, scheme := range []string{"http://", "https://", "grpc://", "grpcs://"} {
		if strings.HasPrefix(strings.ToLower(target), scheme) {
			return fmt.Errorf("sightline: the target %q is a URL: give HOST:PORT, and WithTLS for TLS",
				target)
		}
	}
	return nil
}

// sendable is a key or token as a header carries it. Its bytes are a secret: no error shows them.
func sendable(text string) (string, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return "", errors.New("sightline: the key or token is empty: leave the option out to send none")
	}
	for place := 0; place < len(text); place++ {
		if text[place] < ' ' || text[place] > '~' {
			return "", fmt.Errorf("sightline: byte %d of the key or token is 0x%02x: a header takes "+
				"0x20 to 0x7e", place, text[place])
		}
	}
	return text, nil
}
