package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/scrollery/scrollery/app"
)

// operateGroup is the id of the operators' group in the help.
const operateGroup = "operate"

// adminCommands are the operators' commands for accounts and data. They work on the
// database, beside a running server.
func adminCommands() []*cobra.Command {
	return []*cobra.Command{
		keysCommand(), importCommand(), backtestCommand(), scrollsCommand(), quotasCommand(), keptCommand(), backupCommand(), restoreCommand(), vacuumCommand(),
		accountsCommand(), creatorsCommand(), secretsCommand(), creditsCommand(), subscriptionsCommand(), billingCommand(),
	}
}

func adminCommand() *cobra.Command {
	return group("admin", "Manage accounts, keys, imports, money and backups of a server", adminCommands()...)
}

// moved returns the admin commands at their place of before. They are hidden and say on
// stderr where they are now; stdout is the same.
func moved() []*cobra.Command {
	all := slices.DeleteFunc(adminCommands(), func(c *cobra.Command) bool { return c.Name() == "import" || c.Name() == "kept" || c.Name() == "vacuum" }) // a customer's command, and those that were never there
	for _, command := range all {
		command.Hidden = true
		hint(command)
	}
	return all
}

func hint(command *cobra.Command) {
	for _, child := range command.Commands() {
		hint(child)
	}
	if command.HasSubCommands() {
		return
	}
	run := command.RunE
	command.RunE = func(cmd *cobra.Command, args []string) error {
		path := strings.TrimPrefix(cmd.CommandPath(), "scrollery ")
		fmt.Fprintf(os.Stderr, "scrollery: `scrollery %[1]s` is now `scrollery admin %[1]s`; the old form works until the next release.\n", path)
		switch noun := strings.Fields(path)[0]; noun {
		case "keys", "scrolls":
			fmt.Fprintf(os.Stderr, "It reads the data of a server on this machine. What your key can see is in `scrollery %s`.\n", strings.TrimSuffix(noun, "s"))
		}
		return run(cmd, args)
	}
}

// withSettings makes every setting of the server a flag of a command and of those below it.
func withSettings(command *cobra.Command, settings []app.Setting) *cobra.Command {
	command.GroupID = operateGroup
	flags := command.PersistentFlags()
	flags.String("config", "", "YAML file with settings (SCROLLERY_CONFIG)")
	for _, setting := range settings {
		if !setting.Secret {
			flags.String(setting.Flag(), "", settingHelp(setting))
		}
	}
	return command
}

// settingHelp is the help of a setting's flag: its usage as part of a sentence, its variable and its default.
// Backquotes are left out, since they would name the value.
func settingHelp(setting app.Setting) string {
	usage := strings.TrimSuffix(strings.ReplaceAll(setting.Usage, "`", ""), ".")
	first, size := utf8.DecodeRuneInString(usage)
	usage = string(unicode.ToLower(first)) + usage[size:]
	if setting.Default == "" {
		return fmt.Sprintf("%s (%s%s)", usage, app.Prefix, setting.Name)
	}
	return fmt.Sprintf("%s (%s%s; default: %s)", usage, app.Prefix, setting.Name, setting.Default)
}
