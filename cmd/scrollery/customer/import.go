package customer

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/cmd/scrollery/customer/show"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

const (
	createImport  = "/v1/imports"
	previewImport = "/v1/imports/preview"
	// importPoll is the time between two looks at an import.
	importPoll = time.Second
)

var (
	errNothingRead = errors.New("no video could be read: the reasons are in the report")
	errImport      = errors.New("the import")
)

// importing are the flags of an import as they were given.
type importing struct {
	columns, format, observed, key string
	yes, dryRun                    bool
	// at is the time of counts in Unix milliseconds; 0 is that of the file.
	at int64
}

func (p *program) importFiles() *cobra.Command {
	var flags importing
	command := p.command(spec{
		use: "import FILE... | -", short: "Import files with videos into your library", answer: anyAnswer,
		long: "Reads files as the server understands them, shows what each column became, the first videos and what was not understood,\n" +
			"and imports them once you agree. It takes JSON, JSON Lines, CSV and Excel of well-known tools, also packed by gzip or zip;\n" +
			"see docs/import.md. - reads stdin. With --json or --jq there is one value for each file: the import, or with --dry-run the\n" +
			"preview. The exit code is 1 if no video of a file could be read. `import undo` undoes an import for seven days.",
		example: "  scrollery import dataset_tiktok-scraper.csv\n  scrollery import *.info.json --yes\n" +
			"  scrollery import export.csv --dry-run --jq '.report.files[0].columns'\n  scrollery import export.csv --map export.map.json\n" +
			"  yt-dlp -j URL | scrollery import - --yes",
		args: func(cmd *cobra.Command, args []string) error {
			input := 0
			for _, arg := range args {
				if arg == "-" {
					input++
				}
			}
			if len(args) == 0 || input > 1 || input == 1 && len(args) > 1 {
				return wrongUse("%s takes files, or - for stdin", cmd.CommandPath())
			}
			return nil
		},
		run: func(c *call, args []string) error { return c.importAll(&flags, args) },
	})
	set := command.Flags()
	set.StringVar(&flags.columns, "map", "", "a column map: `FILE` with JSON that says what each column is")
	set.StringVar(&flags.format, "format", "", "the only `FORMAT` to read")
	set.StringVar(&flags.observed, "observed-at", "", "`TIME` of counts that have none: 2026-01-31 or 2026-01-31T12:00:00Z (default: the file's modification time)")
	set.StringVar(&flags.key, "idempotency-key", "", "the same `KEY` returns the same import; for one file (default: a new one)")
	set.BoolVar(&flags.yes, "yes", false, "import without asking")
	set.BoolVar(&flags.dryRun, "dry-run", false, "store nothing: show the preview alone")
	command.AddCommand(p.importUndo(), p.importList())
	return command
}

// read checks the flags, and reads the map.
func (f *importing) read(c *call, files int) error {
	if f.yes && f.dryRun {
		return wrongUse("--yes goes without --dry-run")
	}
	if f.key != "" && files > 1 {
		return wrongUse("--idempotency-key is for one file")
	}
	if f.columns != "" {
		text, err := c.input(f.columns)
		if err != nil {
			return err
		}
		if !json.Valid([]byte(text)) {
			return wrongUse("--map: %s is no JSON", f.columns)
		}
		f.columns = text
	}
	if f.observed != "" {
		at, err := time.Parse(time.RFC3339, f.observed)
		if err != nil {
			at, err = time.Parse(time.DateOnly, f.observed)
		}
		if err != nil || at.Year() < 2000 || at.After(time.Now()) {
			return wrongUse("--observed-at: %q is not a past day or time", f.observed)
		}
		f.at = at.UnixMilli()
	}
	return nil
}

func (c *call) importAll(flags *importing, names []string) error {
	if err := flags.read(c, len(names)); err != nil {
		return err
	}
	client, err := c.client()
	if err != nil {
		return err
	}
	var files []*importFile
	for _, name := range names {
		file, err := c.openImport(name, flags)
		if err != nil {
			return err
		}
		defer file.close()
		files = append(files, file)
	}
	readable, err := c.previewAll(client, flags, files)
	if err != nil {
		return err
	}
	if flags.dryRun || len(readable) == 0 {
		return nothing(files, readable)
	}
	if agreed, err := c.agree(flags, readable); err != nil || !agreed {
		return err
	}
	for _, file := range readable {
		if err := c.importOne(client, flags, file); err != nil {
			return err
		}
	}
	return nothing(files, readable)
}

// nothing is the error of files of which no video could be read.
func nothing(files, readable []*importFile) error {
	if len(readable) < len(files) {
		return errNothingRead
	}
	return nil
}

// previewAll shows what each file has, and returns those with videos.
func (c *call) previewAll(client *client, flags *importing, files []*importFile) (readable []*importFile, err error) {
	for _, file := range files {
		file.preview = &pb.PreviewImportResponse{}
		err := patient(c.ctx, func() error { return client.upload(c.ctx, previewImport, file, file.preview) })
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file.shown, err)
		}
		if c.format.Programs() && flags.dryRun {
			err = c.out.Value(c.ctx, c.format, show.JSON(file.preview))
		} else if !c.format.Programs() {
			err = c.showPreview(file)
		}
		if err != nil {
			return nil, err
		}
		if file.preview.GetReport().GetRead() > 0 {
			readable = append(readable, file)
		}
	}
	return readable, nil
}

// agree asks whether to import. Without a terminal, no one can answer.
func (c *call) agree(flags *importing, files []*importFile) (bool, error) {
	if flags.yes {
		return true, nil
	}
	videos, units := 0, 0
	for _, file := range files {
		videos, units = videos+int(file.preview.GetReport().GetRead()), units+int(file.preview.GetUnits())
	}
	in := c.cmd.InOrStdin()
	if !show.IsTerminal(in) {
		return false, wrongUse("nothing was stored, since stdin is no terminal to ask on: add --yes to import, or --dry-run to look only")
	}
	fmt.Fprintf(c.cmd.ErrOrStderr(), "Import %d readings for %d units? [y/N] ", videos, units)
	answer, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && answer == "" {
		return false, fmt.Errorf("read the answer: %w", err)
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer == "y" || answer == "yes" {
		return true, nil
	}
	c.note("Nothing was stored.")
	return false, nil
}

// importOne sends a file, and follows its import to the end.
func (c *call) importOne(client *client, flags *importing, file *importFile) error {
	file.query.Set("idempotencyKey", flags.key)
	if flags.key == "" {
		file.query.Set("idempotencyKey", "cli-"+rand.Text())
	}
	made := &pb.CreateImportResponse{}
	for tries := 0; ; tries++ {
		err := patient(c.ctx, func() error { return client.upload(c.ctx, createImport, file, made) })
		if err == nil {
			break
		}
		if tries == 3 || c.ctx.Err() != nil || refusal(err) != nil && !refusal(err).GetRetryable() {
			return fmt.Errorf("%s: %w", file.shown, err)
		}
		if stopped := pause(c.ctx, retryFirst<<tries); stopped != nil {
			return stopped
		}
	}
	if made.GetOutcome() == "existing" {
		c.note("This key has begun an import before.")
	}
	ended, err := c.followImport(client, made.GetImport())
	if err != nil {
		return err
	}
	if err := c.show(ended, func() error { return c.showImport(file, ended) }); err != nil {
		return err
	}
	if ended.GetStatus() == "failed" {
		return fmt.Errorf("%w of %s has failed: %s", errImport, file.shown, ended.GetFailure())
	}
	return nil
}

// followImport shows the progress of an import until its end.
func (c *call) followImport(client *client, now *pb.Import) (*pb.Import, error) {
	bar := newBar(c)
	defer bar.end()
	id, silent := now.GetId(), time.Now()
	for {
		bar.showImport(now)
		switch now.GetStatus() {
		case "completed", "failed", "undone":
			return now, nil
		}
		if pause(c.ctx, importPoll) != nil {
			return nil, fmt.Errorf("interrupted; the server goes on: `scrollery api GET /v1/imports -F id=%s`", id)
		}
		got, err := ask[*pb.GetImportResponse](c.ctx, client, &pb.GetImportRequest{Id: &id})
		switch wait, limited := limitedFor(err); {
		case err == nil && !got.GetFound():
			return nil, fmt.Errorf("there is no import %s", id)
		case err == nil:
			now, silent = got.GetImport(), time.Now()
		case limited && wait <= maxPatience:
			_ = pause(c.ctx, wait) // the next pause reports an end
		case !broken(err) || time.Since(silent) > outage:
			return nil, err
		default:
			bar.lost()
		}
	}
}

// importFile is a file to send, which can be read again.
type importFile struct {
	shown   string
	file    *os.File
	query   url.Values
	preview *pb.PreviewImportResponse
	// temporary is to be deleted.
	temporary bool
}

// openImport opens a file, or copies stdin into one.
func (c *call) openImport(name string, flags *importing) (*importFile, error) {
	f := &importFile{shown: name, query: url.Values{}}
	at := flags.at
	if name == "-" {
		file, err := os.CreateTemp("", "scrollery-import-")
		if err != nil {
			return nil, err
		}
		f.file, f.temporary, f.shown = file, true, "stdin"
		if _, err := io.Copy(file, c.cmd.InOrStdin()); err != nil {
			f.close()
			return nil, fmt.Errorf("read stdin: %w", err)
		}
	} else {
		file, err := os.Open(name)
		if err != nil {
			return nil, wrongUse("%w", err)
		}
		f.file = file
		info, err := file.Stat()
		if err != nil || info.IsDir() {
			f.close()
			return nil, errors.Join(err, wrongUse("%s is a folder: name its files, as %s", name, filepath.Join(name, "*.csv")))
		}
		f.query.Set("name", filepath.Base(name))
		if modified := info.ModTime(); at == 0 && modified.Year() >= 2000 && modified.Before(time.Now()) {
			at = modified.UnixMilli()
		}
	}
	for member, value := range map[string]string{"map": flags.columns, "format": flags.format} {
		if value != "" {
			f.query.Set(member, value)
		}
	}
	if at != 0 {
		f.query.Set("observedAt", strconv.FormatInt(at, 10))
	}
	return f, nil
}

func (f *importFile) close() {
	_ = f.file.Close() // only read
	if f.temporary {
		_ = os.Remove(f.file.Name()) // a temporary file
	}
}

// uploadTimeout bounds the sending and reading of a file.
const uploadTimeout = 15 * time.Minute

// upload sends a file from its beginning, and reads the answer.
func (c *client) upload(ctx context.Context, path string, file *importFile, answer proto.Message) error {
	ctx, cancel := context.WithTimeout(ctx, uploadTimeout)
	defer cancel()
	if _, err := file.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	address := strings.TrimRight(c.Server, "/") + path + "?" + file.query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, io.NopCloser(file.file))
	if err != nil {
		return err
	}
	if info, err := file.file.Stat(); err == nil {
		request.ContentLength = info.Size()
	}
	request.Header.Set("Content-Type", "application/octet-stream")
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return err
	}
	if response.StatusCode >= 300 {
		return refused(response.Status, text)
	}
	return protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(text, answer)
}
