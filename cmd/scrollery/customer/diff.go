package customer

import (
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/cobra"
)

func (p rulesets) diff() *cobra.Command {
	return p.program.command(spec{
		use: "diff FILE|VERSION [FILE|VERSION]", short: "Compare the rules in force, a file, or earlier versions",
		long: "Prints the lines that differ, as diff -u does. With one argument, the rules in force are compared with it; a number\n" +
			"is a version, everything else a file. `rules preview` shows what the difference does to videos.",
		example: "  scrollery rules diff rules.txt\n  scrollery rules diff 3 5",
		args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 && len(args) != 2 {
				return wrongUse("%s takes one or two files or versions", cmd.CommandPath())
			}
			return nil
		},
		run: func(c *call, args []string) error {
			client, err := c.client()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				args = append([]string{"0"}, args...)
			}
			var names, texts [2]string
			for i, arg := range args {
				names[i] = arg
				if version, isVersion := strconv.ParseInt(arg, 10, 32); isVersion == nil {
					texts[i], err = c.version(client, int32(version))
					if names[i] = "version " + arg; version == 0 {
						names[i] = "in force"
					}
				} else {
					texts[i], err = c.input(arg)
				}
				if err != nil {
					return err
				}
				if texts[i] = strings.TrimRight(texts[i], "\n"); texts[i] != "" {
					texts[i] += "\n"
				}
			}
			return c.text(udiff.Unified(names[0], names[1], texts[0], texts[1]))
		},
	})
}
