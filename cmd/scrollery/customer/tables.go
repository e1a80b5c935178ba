package customer

import (
	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/cmd/scrollery/customer/show"
)

// table prints the items of an answer below other words, after an empty line; nothing
// for none.
func table[T proto.Message](c *call, items []T, columns []show.Column[T]) error {
	if len(items) == 0 {
		return nil
	}
	if err := c.out.Say(""); err != nil {
		return err
	}
	printed := show.NewList(c.out, &show.Format{}, columns)
	for _, item := range items {
		if err := printed.Add(item); err != nil {
			return err
		}
	}
	return printed.Close(c.ctx)
}

// each prints texts, a line each.
func (c *call) each(name string, texts []string) error {
	for _, text := range texts {
		if err := c.out.Say(name+": %s", text); err != nil {
			return err
		}
	}
	return nil
}
