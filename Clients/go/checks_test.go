package sightline

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestAKeyGoesAlongWithoutTheNewlineOfItsFile(t *testing.T) {
	for _, option := range []Option{WithAPIKey(" key\r\n"), WithToken(
		func(context.Context) (string, error) { return "key\n", nil })} {
		f := newFake(t)
		f.open()
		client := dial(t, f, option)
		if _, err := send(t, client, named("e")).Result(brief(t, testTime)); err != nil {
			t.Fatal(err)
		}
		found := f.headers[0].Get("authorization")
		if !reflect.DeepEqual(found, []string{"Bearer key"}) {
			t.Error(found)
		}
	}
}

func TestAKeyThatCannotBeSentIsRefusedAtOnceAndNotShown(t *testing.T) {
	for key, want := range map[string]string{
		"": "the key or token is empty", " \n": "the key or token is empty",
		"secret\nkey": "byte 6 of the key or token is 0x0a", "secretü": "byte 6 of the key or token is 0xc3",
		"secret\x7f": "byte 6 of the key or token is 0x7f",
	} {
		_, err := Dial("127.0.0.1:1", WithAPIKey(key))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", key, err)
		}
		warnings := make(chan string, 100)
		client, err := Dial("127.0.0.1:1", WithOnWarning(func(text string) { warnings <- text }),
			WithToken(func(context.Context) (string, error) { return key, nil }))
		if err != nil {
			t.Fatal(err)
		}
		send(t, client, named("e"))
		if warning := <-warnings; !strings.Contains(warning, want) {
			t.Errorf("%q: %s", key, warning)
		}
		_, _ = client.Close(expired())
	}
	for _, key := range []string{" ~", "a b"} {
		if _, err := Dial("127.0.0.1:1", WithAPIKey(key)); err != nil {
			t.Errorf("%q: %v", key, err)
		}
	}
}

func TestATargetThatNothingCanAnswerIsRefusedAtOnce(t *testing.T) {
	for target, isTaken := range map[string]bool{"": false, "https://host:1": false,
		"HTTP://host": false, "grpc://host:1": false, "host:1": true, "dns:///host:1": true,
		"unix:/socket": true} {
		if _, err := Dial(target); (err == nil) != isTaken {
			t.Errorf("%q: %v", target, err)
		}
	}
}

func TestAReportIsPrintedInWords(t *testing.T) {
	if text := fmt.Sprint(FlushReport{3, 1}); text != "3 acknowledged, 1 pending" {
		t.Error(text)
	}
}
