package sandbox

import (
	"context"
	"fmt"
	"slices"

	"entgo.io/ent/dialect/sql"

	"github.com/scrollery/scrollery/ent"
	"github.com/scrollery/scrollery/ent/sandboxfile"
	"github.com/scrollery/scrollery/modules/kernel/files"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// The bounds of one statement on files.
const (
	filesAtOnce = 200
	bytesAtOnce = 4 << 20
)

// rows is the fileStore of several machines: a row for each file. A lock for each
// account keeps its writes apart, on all processes.
type rows struct {
	db      *store.DB
	limits  files.Limits
	scratch func() (Scratch, error)
}

func (r rows) write(ctx context.Context, name, data string) error {
	if faults := files.Check(r.limits, name, data); len(faults) > 0 {
		return faults[0]
	}
	return r.change(ctx, func(ctx context.Context, tx *store.Tx, index *files.Index) error {
		if err := index.Write(r.limits, name, int64(len(data))); err != nil {
			return err
		}
		return r.put(ctx, tx, []string{name}, func(string) (string, error) { return data, nil })
	})
}

func (r rows) read(ctx context.Context, name string) (string, error) {
	if _, err := accountOf(ctx); err != nil {
		return "", err
	}
	if err := files.CheckPath(name); err != nil {
		return "", err
	}
	row, err := r.db.Ent().SandboxFile.Query().Where(sandboxfile.Path(name)).Only(ctx)
	if ent.IsNotFound(err) {
		return "", &files.Error{Field: files.PathField, Message: "there is no such file"}
	}
	if err != nil {
		return "", fmt.Errorf("read a file: %w", err)
	}
	return string(row.Data), nil
}

func (r rows) list(ctx context.Context) ([]files.File, error) {
	index, err := indexOf(ctx, r.db.Ent())
	if err != nil {
		return nil, err
	}
	return index.List(), nil
}

// erase has nothing to do: the rows of an account are deleted with all others.
func (r rows) erase(context.Context) error { return nil }

// change runs do in one transaction, which no other change of the account's files
// overlaps. index has the files before the change.
func (r rows) change(ctx context.Context, do func(ctx context.Context, tx *store.Tx, index *files.Index) error) error {
	account, err := accountOf(ctx)
	if err != nil {
		return err
	}
	return r.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := tx.Lock(ctx, "sandbox files", account); err != nil {
			return err
		}
		index, err := indexOf(ctx, tx.Ent())
		if err != nil {
			return err
		}
		return do(ctx, tx, index)
	})
}

// indexOf reads the paths and sizes of the account's files.
func indexOf(ctx context.Context, client *ent.Client) (*files.Index, error) {
	if _, err := accountOf(ctx); err != nil {
		return nil, err
	}
	found, err := client.SandboxFile.Query().Select(sandboxfile.FieldPath, sandboxfile.FieldSize).All(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the files: %w", err)
	}
	index := files.NewIndex()
	for _, row := range found {
		index.Add(row.Path, row.Size)
	}
	return index, nil
}

// put writes files, whose contents read returns. A file that is there gets the new content.
func (r rows) put(ctx context.Context, tx *store.Tx, names []string, read func(name string) (string, error)) error {
	account, err := accountOf(ctx)
	if err != nil {
		return err
	}
	var batch []*ent.SandboxFileCreate
	size := 0
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		err := tx.Ent().SandboxFile.CreateBulk(batch...).
			OnConflict(sql.ConflictColumns(sandboxfile.FieldAccountID, sandboxfile.FieldPath), sql.ResolveWith(func(u *sql.UpdateSet) {
				u.SetExcluded(sandboxfile.FieldData).SetExcluded(sandboxfile.FieldSize)
			})).Exec(ctx)
		if err != nil {
			return fmt.Errorf("write files: %w", err)
		}
		batch, size = nil, 0
		return nil
	}
	for _, name := range names {
		data, err := read(name)
		if err != nil {
			return err
		}
		batch = append(batch, tx.Ent().SandboxFile.Create().
			SetID(r.db.NewID()).SetAccountID(account).SetPath(name).SetData([]byte(data)).SetSize(int64(len(data))))
		if size += len(data); len(batch) == filesAtOnce || size >= bytesAtOnce {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// remove deletes files.
func (rows) remove(ctx context.Context, tx *store.Tx, names []string) error {
	for some := range slices.Chunk(names, filesAtOnce) {
		if _, err := tx.Ent().SandboxFile.Delete().Where(sandboxfile.PathIn(some...)).Exec(ctx); err != nil {
			return fmt.Errorf("delete files: %w", err)
		}
	}
	return nil
}

// each passes the files to do. It skips those that are deleted meanwhile.
func (r rows) each(ctx context.Context, do func(name string, data []byte) error) error {
	list, err := r.list(ctx)
	if err != nil {
		return err
	}
	for len(list) > 0 {
		var names []string
		for size := int64(0); len(names) < min(len(list), filesAtOnce) && size < bytesAtOnce; {
			size += list[len(names)].Size
			names = append(names, list[len(names)].Path)
		}
		list = list[len(names):]
		found, err := r.db.Ent().SandboxFile.Query().Where(sandboxfile.PathIn(names...)).All(ctx)
		if err != nil {
			return fmt.Errorf("read files: %w", err)
		}
		for _, row := range found {
			if err := do(row.Path, row.Data); err != nil {
				return err
			}
		}
	}
	return nil
}
