package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"

	"github.com/scrollery/scrollery/plugins/stage"
	stagev1 "github.com/scrollery/scrollery/proto/gen/scrollery/stage/v1"
)

// Folder holds media that sources fetched, for the evidence stages of one scroll.
// Nothing of it outlives Remove, nor, but for the time until the next host starts,
// the host's death.
type Folder struct {
	host *Host
	*scratch

	mu    sync.Mutex
	files int
	bytes int64
}

// MediaFolder makes an empty one.
func (h *Host) MediaFolder() (*Folder, error) {
	made, err := newScratch(h.Processes.scratch, mediaPrefix)
	if err != nil {
		return nil, fmt.Errorf("make the media folder: %w", err)
	}
	return &Folder{host: h, scratch: made}, nil
}

// Remove deletes the folder and the media in it.
func (f *Folder) Remove() { f.remove() }

// Path is the path of the folder.
func (f *Folder) Path() string { return f.path }

// Evidence is the host's, for a stage that may read the folder: the records name
// files of it.
func (f *Folder) Evidence(ctx context.Context, id string, run stage.Run, next func() ([]stage.Record, error), emit func([]stage.Finding) error) error {
	return f.host.evidence(ctx, nil, id, run, []string{f.path}, next, emit)
}

// Fetch has a source fetch videos, or their first seconds. emit gets each file with
// its path, from this goroutine. A file that is too big for
// the folder is left out; one that is not plain, not in the call's scratch folder or not
// asked for is refused as the stage's fault. Files emitted before an error stay.
func (f *Folder) Fetch(ctx context.Context, id string, run stage.Run, refs []stage.Ref, emit func(stage.File) error) ([]stage.Outcome, error) {
	one := &fetch{folder: f, asked: askedFor(refs), emit: emit}
	return f.host.source(ctx, nil, id, run, verb{
		kind: stage.SourceKind, name: "Media",
		open:    stagev1.StageServiceClient.Media,
		unasked: refInput(refs),
		begun:   func(p *process) { one.process = p },
		take:    one.take,
	})
}

// fetch is one call.
type fetch struct {
	process *process
	folder  *Folder
	asked   *asked
	emit    func(stage.File) error
}

func (f *fetch) take(message *stagev1.CallResponse) (tally, error) {
	batch, ok := message.GetMessage().(*stagev1.CallResponse_Files)
	if !ok {
		return tally{}, protocol("sent %T instead of files", message.GetMessage())
	}
	var count tally
	for _, m := range batch.Files.GetFiles() {
		file := stage.File{Ref: stage.DecodeRef(m.GetRef()), Name: m.GetName()}
		if errors.Join(file.Ref.Clean(), plainName(file.Name)) != nil || f.asked.answer(file.Ref) != nil {
			count.refused++
			continue
		}
		scratch, err := f.process.runner.command.Scratch()
		if err != nil {
			return count, &callerError{fmt.Errorf("take media: %w", err)}
		}
		path, err := f.folder.accept(scratch, file.Name)
		switch {
		case errors.Is(err, errNotPlain):
			count.refused++
			continue
		case errors.Is(err, errTooMuch):
			count.taken++ // it kept to the protocol
			f.process.output.log.Warn("media left out", "platform", file.Platform, "error", err)
			continue
		case err != nil:
			return count, &callerError{fmt.Errorf("take media: %w", err)}
		}
		count.taken++
		if err := f.emit(stage.File{Ref: file.Ref, Name: path}); err != nil {
			return count, &callerError{err}
		}
	}
	return count, nil
}

var (
	errNotPlain = errors.New("no plain file in the scratch folder")
	errTooMuch  = errors.New("more bytes than media may have")
)

// plainName takes the name of a file, and nothing that leads elsewhere.
func plainName(name string) error {
	if len(name) > 255 || !filepath.IsLocal(name) || name == "." || filepath.Base(name) != name {
		return errNotPlain
	}
	for i := range len(name) {
		if name[i] == '/' || name[i] == '\\' || name[i] == 0 {
			return errNotPlain
		}
	}
	return nil
}

// accept takes a file out of a call's folder. The stage still runs and may
// replace the file meanwhile, so the opened file is copied, and it is found from the one
// folder that the stage cannot replace.
func (f *Folder) accept(call, name string) (path string, err error) {
	root, err := os.OpenRoot(call)
	if err != nil {
		return "", err
	}
	defer root.Close()
	inside := filepath.Join(workFolder, name)
	if info, err := root.Lstat(inside); err != nil || !info.Mode().IsRegular() {
		return "", errNotPlain
	}
	// The file may be a pipe by now: opening it must not wait.
	from, err := root.OpenFile(inside, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", errNotPlain
	}
	defer from.Close()
	// The stage may need the space.
	defer func() { _ = root.Remove(inside) }()
	if info, err := from.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", errNotPlain
	}
	return f.copy(from)
}

func (f *Folder) copy(from *os.File) (path string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	most := min(f.host.config.MediaFile, f.host.config.MediaTotal-f.bytes)
	if info, err := from.Stat(); err != nil || info.Size() > most {
		return "", errors.Join(errTooMuch, err)
	}
	path = filepath.Join(f.path, strconv.Itoa(f.files))
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	f.files++
	n, err := io.Copy(to, io.LimitReader(from, most+1))
	if err = errors.Join(err, to.Close()); err == nil && n > most {
		err = errTooMuch // it grew meanwhile
	}
	if err != nil {
		_ = os.Remove(path)
		return "", err
	}
	f.bytes += n
	return path, nil
}
