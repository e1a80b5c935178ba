package account

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/scrollery/scrollery/modules/kernel/apierr"
	"github.com/scrollery/scrollery/modules/kernel/fair"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
	"github.com/scrollery/scrollery/modules/kernel/viewer"
)

// column is a member of a line.
type column = string

// entity is one kind of rows of an account.
type entity struct {
	// name is that of its file, without the extension.
	name    string
	columns []column
	// rows calls do with the values of each row, in the order of the columns. A value is
	// nil, a bool, an int, an int64, a float64, a string, jsontext.Value, or a pointer
	// to one of these.
	rows func(ctx context.Context, do func(values ...any) error) error
}

const (
	videosName = "videos"
	filesName  = "files"
	// waitForPlace is how long an export waits for the end of another one.
	waitForPlace = time.Second
)

// firstPart is the name of the first part of the videos; the others have the id of the
// video that they follow.
const firstPart = "first"

// export writes the account of the context as a zip: everything but what the caller lacks a
// scope for.
// Rows are read page by page: those that change meanwhile are as they were when their
// page was read. An account runs one export at a time in a process; another one fails
// with RateLimited.
func (e *exporter) export(ctx context.Context, out io.Writer) error {
	account, all, ok := viewer.Tenant(ctx)
	if !ok || all {
		return fmt.Errorf("export: no account in the context")
	}
	waiting, cancel := context.WithTimeout(ctx, waitForPlace)
	leave, err := e.running.Enter(waiting, account)
	cancel()
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return &apierr.Error{Kind: apierr.RateLimited, RetryAfter: 10 * time.Second, Message: "Another export is running. An account has one at a time: try again when it has ended."}
	}
	defer leave()
	paced := &paced{out: out, places: e.places, ctx: ctx, account: account}
	if err := paced.enter(); err != nil {
		return err
	}
	defer paced.give()
	a := newArchive(paced, account, e.now())
	if err := e.write(store.BulkReader(ctx), a); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	if err := a.close(); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// paced is the output of an export. While its reader takes what was written, the export
// has no place among those that work: a slow reader keeps no other account waiting.
type paced struct {
	out     io.Writer
	places  *fair.Places
	ctx     context.Context
	account int64
	leave   func()
}

func (p *paced) enter() (err error) {
	p.leave, err = p.places.Enter(p.ctx, p.account)
	return err
}

func (p *paced) give() {
	if p.leave != nil {
		p.leave()
		p.leave = nil
	}
}

// Write writes without a place, and returns with one.
func (p *paced) Write(text []byte) (int, error) {
	p.give()
	n, err := p.out.Write(text)
	if err != nil {
		return n, err
	}
	return n, p.enter()
}

func (e *exporter) write(ctx context.Context, a *archive) error {
	for _, e := range e.small() {
		if lacks(ctx, e.name) != "" {
			continue
		}
		if err := a.add(ctx, e.name, e); err != nil {
			return err
		}
	}
	if err := e.videos(ctx, a); err != nil || lacks(ctx, filesName) != "" {
		return err
	}
	return e.files(ctx, a)
}

// videos writes the videos in parts, each with what belongs to its videos.
func (e *exporter) videos(ctx context.Context, a *archive) error {
	name := firstPart
	for after := int64(0); ; {
		part, err := e.videoPart(ctx, after)
		if err != nil || len(part.rows) == 0 {
			return err
		}
		if after != 0 {
			name = publicid.Format(publicid.Video, after)
		}
		for _, e := range part.entities() {
			if err := a.add(ctx, e.name+"/"+name, e); err != nil {
				return err
			}
		}
		after = part.rows[len(part.rows)-1].ID
	}
}

// files writes the sandbox files as they are.
func (e *exporter) files(ctx context.Context, a *archive) error {
	paths, err := e.needs.Files.Paths(ctx)
	if err != nil {
		return err
	}
	for _, path := range paths {
		text, err := e.needs.Files.ReadFile(ctx, path)
		if err != nil {
			return err
		}
		if err := a.addFile(filesName+"/"+path, text); err != nil {
			return err
		}
	}
	return nil
}
