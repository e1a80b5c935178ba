package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/scrollery/scrollery/app/apptest"
)

// TestPythonStage has the example in another language pass the kit and find videos
// in a scroll.
func TestPythonStage(t *testing.T) {
	t.Parallel()
	if err := exec.Command("/usr/bin/python3", "-c", "import grpc, google.protobuf").Run(); err != nil && os.Getenv("CI") == "" {
		t.Skip("python3-grpcio and python3-protobuf are not installed")
	}
	address := apptest.FreeAddress(t)
	dir := t.TempDir()
	out := inKit(t, dir, `set -euo pipefail
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
mkdir plugins
cp -R "$CHECKOUT/plugins/examples/python" source
make -C source OUT="$PWD/plugins/links" DESCRIPTORS="$CHECKOUT/proto/gen/descriptors.binpb"
scrollery plugins check plugins/links
scrollery plugins pin plugins/links --manifest plugins/links.yaml
SCROLLERY_STAGE= plugins/links && exit 1
cat > links.txt <<'END'
# noted down
https://www.youtube.com/shorts/dQw4w9WgXcQ
https://www.tiktok.com/@brewfox/video/7301234567890123456?lang=en
https://www.example.com/nothing
https://www.youtube.com/shorts/dQw4w9WgXcQ
END
cat > scrollery.yaml <<END
data_dir: ./data
plugin_dir: ./plugins
plugins:
  settings: {links: {links: $PWD/links.txt}}
scrolls:
  templates:
    default: {sources: [links], screens: [rules]}
END
export SCROLLERY_CONFIG="$PWD/scrollery.yaml"
scrollery plugins list
scrollery serve &
for i in $(seq 100); do curl -sf "$BASE/v1/health" > /dev/null && break; sleep 0.2; done
KEY="$(scrollery admin keys create --email ada@example.com --plan pro)"
ask() { curl -sf -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" "$@"; }
ask -d '{"description":"Filter coffee"}' "$BASE/v1/workspace"
SCROLL="$(ask -d '{}' "$BASE/v1/scrolls" | grep -o 'scr_[0-9a-z]*')"
for i in $(seq 300); do ask "$BASE/v1/scrolls?id=$SCROLL" | grep -q '"completedAt":[0-9]' && break; sleep 0.2; done
echo "scroll: $(ask "$BASE/v1/scrolls?id=$SCROLL")"
echo "library: $(ask "$BASE/v1/library")"
`, "SCROLLERY_ADDR="+address, "SCROLLERY_OPS_ADDR=127.0.0.1:0", "BASE=http://"+address)
	for _, want := range []string{
		"ok   lets go of a cancelled call", "it is not started by hand", "runs: openssl", "is a script: may read and run whatever is in /usr", "links      source    0.1.0    ready",
		`"status":"completed"`, `"videos":2`, `"externalId":"dQw4w9WgXcQ"`, `"externalId":"7301234567890123456"`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in the output:\n%s", want, out)
		}
	}
}
