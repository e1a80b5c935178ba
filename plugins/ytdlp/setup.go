package ytdlp

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/scrollery/scrollery/plugins/internal/lazy"
)

const (
	// leastVersion is the oldest yt-dlp that reads TikTok.
	leastVersion = "2026.08.19"
	// leastNode is the oldest Node.js that yt-dlp takes.
	leastNode = 20
	// Install is the command that installs what the source needs, or updates it.
	Install = `python3 -m pip install --upgrade "yt-dlp[default,curl-cffi]"`
	// setupDeadline bounds each question to a program.
	setupDeadline = 10 * time.Second
)

// Setup is what of the program and its companions is installed on this machine.
type Setup struct {
	// Version is the program's; empty if it is not installed or does not run.
	Version string
	// Problems are what does not work, each with its consequence; none is good.
	Problems []string
}

// String is the problems in a sentence, with the command that mends them; empty without any.
func (s Setup) String() string {
	if len(s.Problems) == 0 {
		return ""
	}
	return strings.Join(s.Problems, "; ") + ". Install: " + Install
}

// CheckSetup looks for yt-dlp, for what lets it pass as a browser, and for a runtime of
// JavaScript. It runs each of them once, and reaches no network.
func CheckSetup(ctx context.Context) Setup {
	said := say(ctx, program, "--version")
	s := Setup{Version: strings.TrimSpace(said)}
	switch {
	case s.Version == "":
		s.Problems = append(s.Problems, "yt-dlp is not installed, or does not run")
		return s
	case older(s.Version):
		s.Problems = append(s.Problems, fmt.Sprintf("yt-dlp %s is too old: TikTok needs %s or newer", s.Version, leastVersion))
	}
	if !impersonates(say(ctx, program, "--ignore-config", "--list-impersonate-targets")) {
		s.Problems = append(s.Problems, "curl_cffi is missing: TikTok and Instagram answer browsers alone")
	}
	if say(ctx, "deno", "--version") == "" && nodeVersion(say(ctx, "node", "--version")) < leastNode {
		s.Problems = append(s.Problems, fmt.Sprintf("neither deno nor Node.js %d or newer is installed: YouTube's media cannot be fetched, lists and counts can", leastNode))
	}
	return s
}

// say is what a program prints; empty if it fails.
func say(ctx context.Context, name string, args ...string) string {
	ctx, cancel := context.WithTimeout(ctx, setupDeadline)
	defer cancel()
	command := exec.CommandContext(ctx, name, args...)
	command.WaitDelay = time.Second
	var out bytes.Buffer
	command.Stdout = &out
	if command.Run() != nil {
		return ""
	}
	return out.String()
}

var dayForm = lazy.Pattern(`^\d{4}\.\d{2}\.\d{2}`)

// older reports a version below the least one. Versions are dates, and nightly ones go on
// with a time; what is no date counts as new.
func older(version string) bool {
	day := dayForm().FindString(version)
	return day != "" && day < leastVersion
}

// impersonates reports whether the list of targets has one that can be used.
func impersonates(targets string) bool {
	for line := range strings.Lines(targets) {
		if strings.Contains(line, "curl_cffi") && !strings.Contains(line, "unavailable") {
			return true
		}
	}
	return false
}

// nodeVersion is the major version of what Node.js prints; 0 for anything else.
func nodeVersion(said string) int {
	major, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(said), "v"), ".")
	n, err := strconv.Atoi(major)
	if err != nil {
		return 0
	}
	return n
}

// runtime are the options that name a runtime of JavaScript: none where deno is there, which
// the program takes by itself.
func runtime(help string) []string {
	if !strings.Contains(help, "--js-runtimes") {
		return nil
	}
	if _, err := exec.LookPath("deno"); err == nil {
		return nil
	}
	if _, err := exec.LookPath("node"); err != nil {
		return nil
	}
	return []string{"--js-runtimes", "node"}
}
