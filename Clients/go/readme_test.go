package sightline

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What an editor imports, by the name that is used.
var snippetImports = map[string]string{
	"context": "context", "credentials": "google.golang.org/grpc/credentials", "fmt": "fmt", "log": "log",
	"pb":          "github.com/sightline/sightline/Clients/go/sightline/v1",
	"propagation": "go.opentelemetry.io/otel/propagation",
	"sightline":   "github.com/sightline/sightline/Clients/go",
}

// As much of OpenTelemetry's package as the page uses: this one does not depend on it.
const propagation = `package propagation

import "context"

type MapCarrier map[string]string

type TraceContext struct{}

func (TraceContext) Inject(ctx context.Context, carrier MapCarrier) {}
`

func TestEachSnippetOfThePageCompiles(t *testing.T) {
	if os.Getenv("GO111MODULE") != "off" {
		t.Skip("a module has no place for the stand-in of OpenTelemetry: see Scripts/test-client-go")
	}
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	writeFile(t, filepath.Join(folder, "src", snippetImports["propagation"], "stub.go"), propagation)
	blocks := strings.Split(string(page), "```go\n")[1:]
	if len(blocks) < 4 {
		t.Fatalf("%d blocks", len(blocks))
	}
	for _, block := range blocks {
		block = strings.Split(block, "```")[0]
		file := filepath.Join(folder, "src", "snippet", "main.go")
		writeFile(t, file, program(block))
		build := exec.Command("go", "build", "-o", filepath.Join(folder, "program"), file)
		build.Env = append(os.Environ(), "GOPATH="+folder+":"+os.Getenv("GOPATH"))
		if output, err := build.CombinedOutput(); err != nil {
			t.Errorf("%v: %s\n%s", err, output, block)
		}
	}
}

// program is a snippet with what a service has around it: a client, and what its user did.
func program(block string) string {
	if strings.HasPrefix(block, "package ") {
		return block
	}
	if !strings.HasPrefix(block, "func ") {
		block = "func use(ctx context.Context, client *sightline.Client, payload []byte, subject string) {\n" +
			block + "}\n"
	}
	text := "package main\n"
	for name, path := range snippetImports {
		if regexp.MustCompile(`\b` + name + `\.`).MatchString(block) {
			text += "import " + name + " \"" + path + "\"\n"
		}
	}
	return text + block + "func main() {}\n"
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
