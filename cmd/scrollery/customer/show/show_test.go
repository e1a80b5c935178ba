package show_test

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/scrollery/scrollery/cmd/scrollery/customer/show"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// hostile has what a terminal obeys: colours, a title, line ends, a bidi override, a C1
// control, and characters of the tag block.
const hostile = "=1+1\x1b[31m\x1b]0;x\x07\r\n\u202egnp\u009b2J\U000e0041"

func hook() *pb.Hook {
	video := &pb.Video{Id: "vid_1", Metadata: &structpb.Struct{Fields: map[string]*structpb.Value{"caption": structpb.NewStringValue(hostile)}}}
	return &pb.Hook{Video: video, Spoken: proto.String(hostile), Version: 3}
}

var columns = []show.Column[*pb.Hook]{
	{Name: "video", Cell: func(h *pb.Hook) any { return h.GetVideo().GetId() }},
	{Name: "version", Cell: func(h *pb.Hook) any { return h.GetVersion() }},
	{Name: "spoken", Cell: func(h *pb.Hook) any { return h.GetSpoken() }, Cut: 30},
}

// escape is what the program gives to New; its own test is beside it.
func escape(text string) string {
	quoted := strconv.QuoteToASCII(text)
	return quoted[1 : len(quoted)-1]
}

func list(t *testing.T, p show.Printer, f show.Format, items ...*pb.Hook) string {
	t.Helper()
	var out bytes.Buffer
	p.Out, p.Escape = &out, escape
	if err := f.Check((&pb.Hook{}).ProtoReflect().Descriptor()); err != nil {
		t.Fatal(err)
	}
	printed := show.NewList(p, &f, columns)
	for _, item := range items {
		if err := printed.Add(item); err != nil {
			t.Fatal(err)
		}
	}
	if err := printed.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestForms(t *testing.T) {
	t.Parallel()
	const escaped = `=1+1\x1b[31m\x1b]0;x\a\r\n\u202egnp\u009b2J\U000e0041`
	for name, c := range map[string]struct {
		printer show.Printer
		format  show.Format
		want    string
	}{
		"a table in a pipe is not cut": {
			want: "VIDEO\tVERSION\tSPOKEN\nvid_1\t3\t" + escaped + "\n",
		},
		"a table on a terminal": {
			printer: show.Printer{Terminal: true},
			want:    "VIDEO  VERSION  SPOKEN\nvid_1  3        " + escaped[:29] + "…\n",
		},
		"CSV guards formulas": {
			format: show.Format{CSV: true},
			want:   "video,version,spoken\nvid_1,3,\"'" + hostile + "\"\n",
		},
		"chosen fields": {
			format: show.Format{Fields: "version,video.id"},
			want:   "[\n{\"version\":3,\"video\":{\"id\":\"vid_1\"}}\n]\n",
		},
		"a free field": {
			format: show.Format{Fields: "video.metadata.caption", JQ: ".[0].video.metadata.caption | startswith(\"=1\")"},
			want:   "true\n",
		},
		"texts of jq have no quotes": {
			format: show.Format{JQ: ".[].video.id"},
			want:   "vid_1\n",
		},
		"JSON on a terminal is the same JSON, escaped": {
			printer: show.Printer{Terminal: true},
			format:  show.Format{Fields: "spoken"},
			want:    "[\n" + `{"spoken":"=1+1\u001b[31m\u001b]0;x\u0007\r\n\u202egnp\u009b2J\udb40\udc41"}` + "\n]\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, list(t, c.printer, c.format, hook())); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	t.Run("empty lists", func(t *testing.T) {
		t.Parallel()
		for want, format := range map[string]show.Format{
			"[]\n": {Fields: show.Everything}, "0\n": {JQ: "length"}, "video,version,spoken\n": {CSV: true}, "": {},
		} {
			t.Run(fmt.Sprintf("%+v", format), func(t *testing.T) {
				if got := list(t, show.Printer{}, format); got != want {
					t.Errorf("%+v: got %q, want %q", format, got, want)
				}
			})
		}
	})
}

func TestGuard(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "a=1": "a=1", "=1": "'=1", "+1": "'+1", "-1": "'-1", "@x": "'@x", "\tx": "'\tx", "\rx": "'\rx", "\nx": "'\nx", "＝1": "'＝1",
	} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			if got := show.Guard(text); got != want {
				t.Errorf("Guard(%q) = %q, want %q", text, got, want)
			}
		})
	}
}

func TestFormatsThatAreRefused(t *testing.T) {
	t.Parallel()
	for want, format := range map[string]show.Format{
		`no field "views"; choose from: video, visual, spoken, onScreenText, version, hookText, score, baselineViews, language, early, or all`: {Fields: "views"},
		`no field "video.name"`:                    {Fields: "video.name"},
		`the field "version" has no fields`:        {Fields: "version.x"},
		"--jq":                                     {JQ: ".["},
		"--csv does not go with --json or --jq":    {CSV: true, JQ: "."},
		"--jq: function not defined: nonsense/0":   {JQ: "nonsense"},
		"there is no field \"metadata\"; choose f": {Fields: "video.id,metadata"},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			if err := format.Check((&pb.Hook{}).ProtoReflect().Descriptor()); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
}

// TestJSONHasTheFormOfREST checks the names and the nulls that Connect has otherwise.
func TestJSONHasTheFormOfREST(t *testing.T) {
	t.Parallel()
	for want, message := range map[string]proto.Message{
		`{"observations":[],"nextCursor":null}`: &pb.ListObservationsResponse{},
		`{"seed":"","platform":"","outcome":"","asked":0,"returned":0,"new":0,"reobserved":0,"dropped":0,"trimmed":0}`: &pb.Coverage{},
		`{"hooks":[]}`:               &pb.GetHooksResponse{},
		`{"path":"","message":"é<"}`: &pb.Issue{Message: "é<"},
	} {
		t.Run(want, func(t *testing.T) {
			if got := string(show.JSON(message)); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}
