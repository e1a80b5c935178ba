package customer

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/scrollery/scrollery/cmd/scrollery/customer/show"
)

// answer is a page of a list.
type answer interface {
	proto.Message
	GetNextPageToken() string
}

// listing is a command that prints a list of the API, page by page.
type listing[Q proto.Message, A answer, T proto.Message] struct {
	spec
	// page is how many items the server returns at once, at most.
	page int
	// request is a new request.
	request func() Q
	// call returns the page of a request; nil asks the request's operation.
	call    func(context.Context, *client, Q) (A, error)
	items   func(A) []T
	columns []show.Column[T]
	filters []filter
	// prepare adds arguments to the request; may be nil.
	prepare func(args []string, request Q) error
	// none is said where the list is empty; may be nil.
	none func(A) string
}

// filter is a flag that becomes a field of the request.
type filter struct {
	flag, field, usage string
	// kind of its value.
	kind filterKind
	// values that a shell suggests; may be nil.
	values []string
}

type filterKind int

const (
	textFilter filterKind = iota
	numberFilter
	countFilter
	dayFilter
	boolFilter
)

const defaultLimit = 25

func list[Q proto.Message, A answer, T proto.Message](p *program, l listing[Q, A, T]) *cobra.Command {
	var limit int
	var all bool
	var item T
	if l.call == nil {
		l.call = func(ctx context.Context, client *client, request Q) (A, error) { return ask[A](ctx, client, request) }
	}
	l.answer, l.table = item.ProtoReflect().Type().Zero().Interface(), true
	var command *cobra.Command
	l.run = func(c *call, args []string) error {
		if limit < 1 {
			return wrongUse("--limit %d is below 1", limit)
		}
		if all && command.Flags().Changed("limit") {
			return wrongUse("--all goes without --limit")
		}
		request := l.request()
		if l.prepare != nil {
			if err := l.prepare(args, request); err != nil {
				return err
			}
		}
		if err := setFilters(command, l.filters, request); err != nil {
			return err
		}
		client, err := c.client()
		if err != nil {
			return err
		}
		if all {
			limit = 0
		}
		return pages(c, client, l, request, limit)
	}
	command = p.command(l.spec)
	flags := command.Flags()
	flags.IntVar(&limit, "limit", defaultLimit, "most items to print")
	flags.BoolVar(&all, "all", false, "print all items, page by page")
	for _, f := range l.filters {
		if f.kind == boolFilter {
			flags.Bool(f.flag, false, f.usage)
		} else {
			flags.String(f.flag, "", f.usage)
		}
		if f.values != nil {
			suggest(command, f.flag, f.values...)
		}
	}
	return command
}

// suggest gives the shell the values of a flag.
func suggest(command *cobra.Command, flag string, values ...string) {
	// It fails for a flag that is not there or was given values before: a mistake here.
	if err := command.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err)
	}
}

// pages prints up to limit items; 0 for all.
func pages[Q proto.Message, A answer, T proto.Message](c *call, client *client, l listing[Q, A, T], request Q, limit int) error {
	printed := show.NewList(c.out, c.format, l.columns)
	fields := request.ProtoReflect().Descriptor().Fields()
	size := fields.ByName("limit")
	if size == nil {
		size = fields.ByName("page_size")
	}
	token := fields.ByName("page_token")
	for {
		wanted := l.page
		if limit > 0 {
			wanted = min(wanted, limit-printed.Count())
		}
		request.ProtoReflect().Set(size, protoreflect.ValueOfInt32(int32(wanted)))
		var page A
		err := patient(c.ctx, func() (err error) {
			page, err = l.call(c.ctx, client, request)
			return err
		})
		if err != nil {
			return err
		}
		for _, item := range l.items(page) {
			if err := printed.Add(item); err != nil {
				return err
			}
		}
		next := page.GetNextPageToken()
		if next == "" || limit > 0 && printed.Count() >= limit {
			if printed.Count() == 0 && l.none != nil {
				c.note("%s", l.none(page))
			}
			return printed.Close(c.ctx)
		}
		request.ProtoReflect().Set(token, protoreflect.ValueOfString(next))
	}
}

// setFilters sets the fields of the flags that were given.
func setFilters(command *cobra.Command, filters []filter, request proto.Message) error {
	message := request.ProtoReflect()
	for _, f := range filters {
		flag := command.Flags().Lookup(f.flag)
		if !flag.Changed {
			continue
		}
		value, err := f.value(flag.Value.String())
		if err != nil {
			return wrongUse("--%s: %w", f.flag, err)
		}
		field := message.Descriptor().Fields().ByName(protoreflect.Name(f.field))
		message.Set(field, value)
	}
	return nil
}

func (f filter) value(text string) (protoreflect.Value, error) {
	switch f.kind {
	case numberFilter:
		number, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return protoreflect.Value{}, fmt.Errorf("%q is no number", text)
		}
		return protoreflect.ValueOfFloat64(number), nil
	case countFilter:
		count, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return protoreflect.Value{}, fmt.Errorf("%q is no whole number", text)
		}
		return protoreflect.ValueOfInt32(int32(count)), nil
	case dayFilter:
		at, err := instant(text)
		if err != nil {
			return protoreflect.Value{}, err
		}
		return protoreflect.ValueOfFloat64(float64(at.UnixMilli())), nil
	case boolFilter:
		return protoreflect.ValueOfBool(text == "true"), nil
	}
	return protoreflect.ValueOfString(text), nil
}

// instant reads a day or a time, or a time before now as 36h.
func instant(text string) (time.Time, error) {
	if at, err := time.Parse(time.DateOnly, text); err == nil {
		return at, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	if ago, err := time.ParseDuration(text); err == nil && ago > 0 {
		return time.Now().Add(-ago), nil
	}
	return time.Time{}, fmt.Errorf("%q is not a day (2026-01-31), a time (2026-01-31T12:00:00Z) or an age (36h)", text)
}
