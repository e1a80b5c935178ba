package vision

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/scrollery/scrollery/plugins/internal/film"
	"github.com/scrollery/scrollery/plugins/stage"
)

const (
	// opening is how much of a video counts, in seconds.
	opening = 3
	// cutScore is ffmpeg's measure of a change of scene, 0 to 100; cutGap the least
	// seconds between two.
	cutScore = 10
	cutGap   = 0.2
	// black and white of video, as most cameras and platforms write it.
	black, white = 16, 235
)

// Facts are what can be measured without knowing what is shown.
type Facts struct {
	// Seconds that were looked at.
	Seconds float64 `json:"seconds"`
	Shots   int     `json:"shots"`
	// Cuts between shots, in seconds from the start.
	Cuts []float64 `json:"cuts"`
	// Motion is the mean change of brightness in a tenth of a second, cuts left out;
	// Brightness its mean, Contrast the span without the darkest and the lightest
	// tenth. All are shares of the way from black to white.
	Motion     float64 `json:"motion"`
	Brightness float64 `json:"brightness"`
	Contrast   float64 `json:"contrast"`
	// Colours that cover a tenth of the picture or more, the largest first.
	Colours []Colour `json:"colours"`
}

// measure has ffmpeg look at a small copy of the first seconds.
func measure(ctx context.Context, call *stage.Call, path string) (Facts, error) {
	dir, err := os.MkdirTemp(call.Scratch, "measure-")
	if err != nil {
		return Facts{}, err
	}
	defer os.RemoveAll(dir)
	// Within a filter's arguments a path must have no signs of its own: it is relative.
	inside := filepath.Base(dir)
	// Of YUV, scdet would see the brightness alone.
	graph := fmt.Sprintf("[0:v:0]scale=160:-2:flags=area,format=yuv420p,split=3[a][b][c];"+
		"[a]format=rgb24,scdet=t=%d,metadata=mode=print:file=%s/cuts[x];"+
		"[b]fps=10,signalstats,metadata=mode=print:file=%s/light[y];"+
		"[c]fps=2,scale=%d:%d:flags=area,format=rgb24[z]", cutScore, inside, inside, grid, grid)
	_, err = film.FFmpeg(ctx, call, path, opening, "-an", "-sn", "-dn", "-filter_complex", graph,
		"-map", "[x]", "-f", "null", "/dev/null", "-map", "[y]", "-f", "null", "/dev/null",
		"-map", "[z]", "-f", "rawvideo", filepath.Join(dir, "pixels"))
	if err != nil {
		return Facts{}, err
	}
	pixels, err := os.ReadFile(filepath.Join(dir, "pixels"))
	if err != nil {
		return Facts{}, err
	}
	cuts, err := readFrames(filepath.Join(dir, "cuts"))
	if err != nil {
		return Facts{}, err
	}
	light, err := readFrames(filepath.Join(dir, "light"))
	if err != nil {
		return Facts{}, err
	}
	if len(light) == 0 || len(cuts) == 0 {
		return Facts{}, &film.Error{Program: "ffmpeg", Words: "no frame came out"}
	}
	return facts(cuts, light, pixels), nil
}

// frame is what ffmpeg says of one, by the names that it gives.
type frame struct {
	at     float64
	values map[string]float64
}

// maxFrames bounds what is read: three seconds at any rate that there is.
const maxFrames = 3000

// readFrames reads lines such as `frame:7 pts:7168 pts_time:0.7` and, for each,
// `lavfi.signalstats.YAVG=86.5`.
func readFrames(path string) ([]frame, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var frames []frame
	scanner := bufio.NewScanner(file)
	for scanner.Scan() && len(frames) < maxFrames {
		line := scanner.Text()
		if _, time, ok := strings.Cut(line, "pts_time:"); ok {
			at, err := strconv.ParseFloat(strings.TrimSpace(time), 64)
			if err != nil || math.IsNaN(at) || at < 0 {
				at = 0
			}
			frames = append(frames, frame{at: at, values: map[string]float64{}})
			continue
		}
		name, text, ok := strings.Cut(strings.TrimPrefix(line, "lavfi."), "=")
		value, err := strconv.ParseFloat(text, 64)
		if ok && err == nil && len(frames) > 0 && !math.IsNaN(value) && !math.IsInf(value, 0) {
			frames[len(frames)-1].values[name] = value
		}
	}
	return frames, scanner.Err()
}

func facts(cuts, light []frame, pixels []byte) Facts {
	found := Facts{Cuts: []float64{}, Colours: colours(pixels)}
	for _, f := range cuts {
		at, ok := f.values["scd.time"]
		last := len(found.Cuts) - 1
		if ok && at > 0 && (last < 0 || at-found.Cuts[last] >= cutGap) {
			found.Cuts = append(found.Cuts, round(at, 2))
		}
	}
	found.Shots = len(found.Cuts) + 1
	found.Seconds = round(cuts[len(cuts)-1].at, 2)
	if len(cuts) > 1 {
		// The last frame is seen for as long as the others.
		found.Seconds = round(cuts[len(cuts)-1].at*float64(len(cuts))/float64(len(cuts)-1), 2)
	}
	found.Seconds = min(found.Seconds, opening)
	var motion, moving, brightness, contrast float64
	for n, f := range light {
		brightness += f.values["signalstats.YAVG"] - black
		contrast += f.values["signalstats.YHIGH"] - f.values["signalstats.YLOW"]
		if n > 0 && !nearCut(found.Cuts, f.at) {
			motion += f.values["signalstats.YDIF"]
			moving++
		}
	}
	span, n := float64(white-black), float64(len(light))
	found.Brightness, found.Contrast = share(brightness/n/span), share(contrast/n/span)
	if moving > 0 {
		found.Motion = share(motion / moving / span)
	}
	return found
}

// nearCut reports whether a frame differs from the one before because of a cut.
func nearCut(cuts []float64, at float64) bool {
	for _, cut := range cuts {
		if math.Abs(at-cut) < 0.11 {
			return true
		}
	}
	return false
}

func share(of float64) float64 { return round(min(1, max(0, of)), 3) }

func round(value float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Round(value*scale) / scale
}
