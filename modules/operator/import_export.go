package operator

import (
	"archive/zip"
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/scrollery/scrollery/plugins/formats"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Restorer brings back what an export has besides the records of sources, for the tenant
// of the context.
type Restorer interface {
	// Brief sets the workspace of a tenant who has none.
	Brief(ctx context.Context, brief ExportedBrief) error
	// Rules sets the ruleset of a tenant who has none.
	Rules(ctx context.Context, text string) error
	// Mark annotates and archives a video.
	Mark(ctx context.Context, ref stage.Ref, marks Marks) error
}

// ExportedBrief is the workspace of an export.
type ExportedBrief struct {
	Description, Website, AppStoreURL, Name *string
	Competitors                             []string
}

// Marks are what the account itself said of a video.
type Marks struct {
	Annotations            json.RawMessage
	Archived, HookArchived bool
}

// none reports that there is nothing to restore.
func (m Marks) none() bool { return !m.Archived && !m.HookArchived && !isSet(m.Annotations) }

func isSet(text json.RawMessage) bool { return len(text) > 0 && string(text) != "null" }

// The format of an export that is read, see the module account.
const (
	exportFormat   = "scrollery-export"
	exportVersion  = 1
	exportManifest = "manifest.json"
)

// isExport reports a zip with the manifest of an export. Any other zip is one of files.
func isExport(file importFile) bool {
	if file.dir == nil || !strings.EqualFold(path.Ext(file.name), ".zip") {
		return false
	}
	reader, err := zip.OpenReader(file.shown)
	if err != nil {
		return true // its reading says why
	}
	defer func() { _ = reader.Close() }() // only looked at
	return slices.ContainsFunc(reader.File, func(f *zip.File) bool { return f.Name == exportManifest })
}

// Bounds of an export that is read: a small file may unpack to any size.
const (
	mostEntries = 20_000
	// unpacked is how many times its size an export may have unpacked, and leastUnpacked what
	// any may. Lines repeat their names, so that they are packed to a tenth.
	unpacked, leastUnpacked = 50, 64 << 20
)

// exported is an open export.
type exported struct {
	zip *zip.ReadCloser
	// left is how many bytes may still be unpacked of its files.
	left  int64
	files map[string]*zip.File
	sums  map[string]string
	// parts are the parts of the videos, in order.
	parts []string
}

// openExport opens an export and reads its manifest.
func openExport(name string) (*exported, error) {
	reader, err := zip.OpenReader(name)
	if err != nil {
		return nil, fmt.Errorf("%w; an export that was cut off cannot be read: fetch it again", err)
	}
	x := &exported{zip: reader, files: map[string]*zip.File{}, sums: map[string]string{}}
	if len(reader.File) > mostEntries {
		return nil, errors.Join(fmt.Errorf("it has %d files, which are more than the %d of any export", len(reader.File), mostEntries), reader.Close())
	}
	for _, file := range reader.File {
		x.files[file.Name] = file
		x.left += unpacked * int64(min(file.CompressedSize64, 1<<40))
	}
	x.left = max(x.left, leastUnpacked)
	if err := x.readManifest(); err != nil {
		return nil, errors.Join(err, reader.Close())
	}
	return x, nil
}

func (x *exported) close() { _ = x.zip.Close() }

// errBomb is the refusal of an export that unpacks to more than any does.
var errBomb = errors.New("it unpacks to far more than an export of this server does")

// bounded reads a file of an export within what is left of it. Every pass over the files has
// as much.
type bounded struct {
	in   io.Reader
	left *int64
}

func (b bounded) Read(p []byte) (int, error) {
	n, err := b.in.Read(p)
	if *b.left -= int64(n); *b.left < 0 {
		return 0, errBomb
	}
	return n, err
}

func (x *exported) readManifest() error {
	file := x.files[exportManifest]
	if file == nil {
		return errors.New("it has no manifest.json, so it is no export")
	}
	in, err := file.Open()
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // read to its end
	var manifest struct {
		Format  string
		Version int
		Files   []struct{ Name, SHA256 string }
	}
	if err := json.NewDecoder(bounded{in, &x.left}).Decode(&manifest); err != nil {
		return fmt.Errorf("read %s: %w", exportManifest, err)
	}
	if manifest.Format != exportFormat || manifest.Version != exportVersion {
		return fmt.Errorf("it has format %q version %d, want %q version %d", manifest.Format, manifest.Version, exportFormat, exportVersion)
	}
	for _, file := range manifest.Files {
		if x.sums[file.Name] = file.SHA256; len(file.SHA256) != hex.EncodedLen(sha256.Size) {
			return fmt.Errorf("%s lists %s without its SHA-256", exportManifest, file.Name)
		}
		if part, ok := strings.CutPrefix(file.Name, "videos/"); ok && strings.HasSuffix(part, ".ndjson") {
			x.parts = append(x.parts, strings.TrimSuffix(part, ".ndjson"))
		}
	}
	return nil
}

// lines calls do with each line of a file, and fails where the file is not the one that
// the manifest lists. A file that the export does not have has no lines.
func (x *exported) lines(name string, do func(line []byte) error) error {
	file, sum := x.files[name], x.sums[name]
	if file == nil && sum == "" {
		return nil
	}
	if file == nil {
		return fmt.Errorf("%s is missing", name)
	}
	in, err := file.Open()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer in.Close() //nolint:errcheck // read to its end
	hash := sha256.New()
	scanner := bufio.NewScanner(io.TeeReader(bounded{in, &x.left}, hash))
	scanner.Buffer(nil, importLine)
	for scanner.Scan() {
		if x.left < 0 {
			return fmt.Errorf("%s: %w", name, errBomb) // the line is a part of one
		}
		if err := do(scanner.Bytes()); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if err := scanner.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if hex.EncodeToString(hash.Sum(nil)) != sum {
		return fmt.Errorf("%s is not what the manifest lists: the file was changed", name)
	}
	return nil
}

// decoded is a line of a file.
func decoded[T any](do func(T) error) func([]byte) error {
	return func(line []byte) error {
		var value T
		if err := json.Unmarshal(line, &value); err != nil {
			return err
		}
		return do(value)
	}
}

// exportedVideo is a line of videos.
type exportedVideo struct {
	ID                     string
	Platform, ExternalID   string
	CreatorID              *string
	GoneAt                 *int64
	Archived, HookArchived bool
	Video                  struct {
		SourceURL     string
		PostedAt      *int64
		Source        *stage.Source
		AgentMetadata json.RawMessage
		Metadata      json.RawMessage
	}
	Keys []stage.Key
	// Followers are the creator's, read at FollowersAt with one of the creator's videos.
	Followers, FollowersAt *int64
}

func (v *exportedVideo) ref() stage.Ref {
	return stage.Ref{Platform: v.Platform, ExternalID: v.ExternalID}
}

func (v *exportedVideo) marks() Marks {
	return Marks{v.Video.AgentMetadata, v.Archived, v.HookArchived}
}

// valid refuses what no export of this server has.
func (v *exportedVideo) valid() error {
	if a := v.Video.AgentMetadata; isSet(a) && a[0] != '{' {
		return fmt.Errorf("agentMetadata of the %s video %q is not an object", v.Platform, v.ExternalID)
	}
	return nil
}

// record is the video without its counts, as a source would deliver it.
func (v *exportedVideo) record(hook *stage.Evidence) stage.Record {
	r := stage.Record{
		Ref: v.ref(), SourceURL: v.Video.SourceURL, PostedAt: v.Video.PostedAt, Source: v.Video.Source, Metadata: v.Video.Metadata,
		Evidence: hook, Keys: v.Keys,
	}
	if v.CreatorID != nil {
		r.CreatorID = *v.CreatorID
	}
	return r
}

// records calls emit with the readings of every video, part by part, the oldest reading of
// a video first.
func (x *exported) records(ctx context.Context, emit func(stage.Record) error) (videos int, err error) {
	for _, part := range x.parts {
		if err := ctx.Err(); err != nil {
			return videos, err
		}
		hooks, readings := map[string]*stage.Evidence{}, map[string][]stage.Metrics{}
		err := x.lines("hooks/"+part+".ndjson", decoded(func(line struct {
			VideoID string
			Hook    stage.Evidence
		},
		) error {
			if !isSet(line.Hook.Visual) {
				line.Hook.Visual = nil
			}
			hooks[line.VideoID] = &line.Hook
			return nil
		}))
		if err != nil {
			return videos, err
		}
		err = x.lines("observations/"+part+".ndjson", decoded(func(line struct {
			VideoID string
			stage.Metrics
		},
		) error {
			readings[line.VideoID] = append(readings[line.VideoID], line.Metrics)
			return nil
		}))
		if err != nil {
			return videos, err
		}
		err = x.lines("videos/"+part+".ndjson", decoded(func(v exportedVideo) error {
			if err := v.valid(); err != nil {
				return err
			}
			record, all := v.record(hooks[v.ID]), readings[v.ID]
			if len(all) == 0 { // it is a video all the same
				all = []stage.Metrics{{}}
			}
			for _, metrics := range all {
				videos++
				record.Metrics = metrics
				if at := metrics.ObservedAt; at != nil && v.FollowersAt != nil && *at == *v.FollowersAt {
					record.Metrics.Followers = v.Followers
				}
				if err := emit(record); err != nil {
					return err
				}
			}
			return nil
		}))
		if err != nil {
			return videos, err
		}
	}
	return videos, nil
}

// readExport reads the videos of an export as any other file.
func (r *fileReading) readExport(ctx context.Context, file importFile, emit func(stage.Record) error) (formats.Report, error) {
	report := formats.Report{Files: 1, Formats: map[string]int{}, Skips: map[formats.Reason]formats.Skip{}}
	x, err := openExport(file.shown)
	if err != nil {
		return report, err
	}
	defer x.close()
	report.Videos, err = x.records(ctx, emit)
	report.Formats[exportFormat] = report.Videos
	if err == nil && r.order.Watch != nil {
		r.order.Watch(int(file.size))
	}
	return report, err
}

// restoreBriefs sets the workspace and the rules of exports for an account without them.
func (s *Service) restoreBriefs(ctx context.Context, files []importFile) error {
	return s.eachExport(files, func(x *exported) error {
		err := x.lines("workspace.ndjson", decoded(func(brief ExportedBrief) error { return s.needs.Restorer.Brief(ctx, brief) }))
		if err != nil {
			return err
		}
		text := ""
		err = x.lines("rules.ndjson", decoded(func(rules struct{ Text string }) error { // the last one is in force
			text = rules.Text
			return nil
		}))
		if err != nil || text == "" {
			return err
		}
		return s.needs.Restorer.Rules(ctx, text)
	})
}

// restoreMarks annotates and archives what the exports say.
func (s *Service) restoreMarks(ctx context.Context, files []importFile) error {
	return s.eachExport(files, func(x *exported) error {
		for _, part := range x.parts {
			marks := map[stage.Ref]Marks{}
			err := x.lines("videos/"+part+".ndjson", decoded(func(v exportedVideo) error {
				if all := v.marks(); !all.none() {
					marks[v.ref()] = all
				}
				return nil
			}))
			if err != nil {
				return err
			}
			for ref := range maps.Keys(marks) {
				if err := s.needs.Restorer.Mark(ctx, ref, marks[ref]); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (s *Service) eachExport(files []importFile, do func(*exported) error) error {
	for _, file := range files {
		if !isExport(file) {
			continue
		}
		x, err := openExport(file.shown)
		if err != nil {
			return fmt.Errorf("read %s: %w", file.shown, err)
		}
		err = do(x)
		x.close()
		if err != nil {
			return fmt.Errorf("read %s: %w", file.shown, err)
		}
	}
	return nil
}
