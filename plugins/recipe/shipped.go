package recipe

import (
	"embed"

	"github.com/scrollery/scrollery/plugins/stage"
)

//go:embed shipped/*.yaml
var shipped embed.FS

// ShippedIDs are the recipes that come with the program, without reading them: the process of
// every command asks for their variables.
func ShippedIDs() []string {
	return []string{"apify", "brightdata", "ensembledata", "scrapecreators", "sociavault"}
}

// Shipped are the texts of those recipes, by id.
func Shipped() map[string][]byte {
	all := map[string][]byte{}
	for _, id := range ShippedIDs() {
		all[id], _ = shipped.ReadFile("shipped/" + id + ".yaml") // a test reads each
	}
	return all
}

// Variables are the values of a shipped recipe that the environment sets.
func Variables(id string) stage.Spec {
	return stage.Spec{
		ID: id, Secrets: []string{"api_key"},
		Settings: []stage.Setting{{Name: "budget", Type: stage.Money, Min: "0.01", Help: "US dollars that may be spent at " + id + " in a day (UTC), 1.00 by default."}},
		Env:      map[string]string{"budget": envName(id) + "_BUDGET"},
	}
}
