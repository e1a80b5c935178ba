package feed

import (
	"embed"
	"io/fs"
)

//go:generate go run ./sample/generate

// Sample as the feed folder reads the built-in sample library: videos of
// invented creators in three successive runs. Each is marked by
// `"sample": true` in its metadata, and their ages stay what they are: they are
// counted back from the day of the run.
const Sample = "sample"

//go:embed sample/1/*.gz sample/2/*.gz sample/3/*.gz
var sampleLibrary embed.FS

func sampleFiles() fs.FS {
	files, err := fs.Sub(sampleLibrary, "sample")
	if err != nil {
		panic(err) // the embedded folder is there, or this would not compile
	}
	return files
}

// Tour is what a newcomer may send to see all of the sample library's sides.
type Tour struct {
	Name, Description, Website string
	Competitors                []string
	Rules, Prompt              string
}

// SampleBrief is the tour of the sample library. Its rules drop six videos.
func SampleBrief() Tour {
	return Tour{
		Name: "Kettle & Fern (sample)",
		Description: "We sell moka pots, hand grinders and pour over gear for small kitchens. " +
			"We want to know which espresso, cold brew and slow bar videos hold people in the first seconds.",
		Website:     "https://www.example.com",
		Competitors: []string{"@brewfox.example", "@cremalab.example", "@lattelynx.example"},
		Rules: "- Skip giveaways and anything tagged #ad\n" +
			"- No videos longer than 3 minutes\n" +
			"- At least 500 views\n" +
			"- Nothing older than 12 months\n" +
			"- English only\n",
		Prompt: "Find moka pot, cold brew and slow bar videos with a strong opening line",
	}
}
