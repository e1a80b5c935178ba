package conformance

import (
	"fmt"
	"strings"

	"github.com/scrollery/scrollery/app/host"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Verb is how the host calls the verb that a person names, as [host.Conversation] has it.
// The verb of the plugin's kind, `collect` for a source and else the name of the kind, needs
// no name.
func Verb(name string, of host.Description) (string, error) {
	own := string(of.Kind)
	if of.Kind == stage.SourceKind {
		own = "collect"
	}
	names := []string{own}
	verbs := map[string]string{"": "", own: ""}
	for _, verb := range []struct {
		name string
		has  bool
	}{{"Refresh", of.Refreshes}, {"Media", of.FetchesMedia}, {"Check", of.Checks}} {
		if verb.has {
			short := strings.ToLower(verb.name)
			names, verbs[short] = append(names, short), verb.name
		}
	}
	verb, has := verbs[name]
	if !has {
		return "", fmt.Errorf("verb %q: the plugin has no such verb; it has %s", name, strings.Join(names, ", "))
	}
	return verb, nil
}
