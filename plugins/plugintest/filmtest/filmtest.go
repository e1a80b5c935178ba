// Package filmtest makes clips of known pictures, words and sound for tests, with
// the system's ffmpeg.
package filmtest

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// The size of all clips, upright as short videos are, and their frames a second.
const (
	Width  = 540
	Height = 960
	Rate   = 10
)

// Scene is a part of a clip in which nothing moves but what it says.
type Scene struct {
	// Seconds it lasts.
	Seconds float64
	Colour  color.Color
	// Lines of text in the middle, in white with a black edge.
	Lines []string
	// Slide moves a bar of the other brightness across, so many pixels a frame.
	Slide int
}

// Need skips a test where the system lacks a program, and fails it in CI.
func Need(t testing.TB, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatalf("%s is not installed", program)
			}
			t.Skipf("%s is not installed", program)
		}
	}
}

// Clip makes a video file of scenes and returns its path. sound, if not empty, is
// an ffmpeg source of audio, such as sine=frequency=440.
func Clip(t testing.TB, sound string, scenes ...Scene) string {
	t.Helper()
	Need(t, "ffmpeg")
	path, key := filepath.Join(t.TempDir(), "clip.mp4"), fmt.Sprintf("%q %+v", sound, scenes)
	made, ok := clips.Load(key)
	if !ok {
		made, _ = clips.LoadOrStore(key, film(t, sound, scenes))
	}
	if err := os.WriteFile(path, made.([]byte), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// clips are those that were made in this process, by what they show.
var clips sync.Map

func film(t testing.TB, sound string, scenes []Scene) []byte {
	t.Helper()
	dir := t.TempDir()
	n := 0
	for _, scene := range scenes {
		picture := scene.picture(t, 0)
		for i := range int(scene.Seconds*Rate + 0.5) {
			if scene.Slide > 0 {
				picture = scene.picture(t, i)
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%04d.png", n)), picture, 0o600); err != nil {
				t.Fatal(err)
			}
			n++
		}
	}
	args := []string{"-framerate", fmt.Sprint(Rate), "-i", filepath.Join(dir, "%04d.png")}
	if sound != "" {
		args = append(args, "-f", "lavfi", "-i", sound, "-shortest", "-c:a", "aac")
	}
	path := filepath.Join(dir, "clip.mp4")
	FFmpeg(t, append(args, "-c:v", "mpeg4", "-q:v", "3", path)...)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Over makes a clip of three seconds with lines over one of ffmpeg's sources of
// pictures, such as mandelbrot.
func Over(t testing.TB, source string, lines ...string) string {
	t.Helper()
	dir := t.TempDir()
	words, clip := filepath.Join(dir, "words.png"), filepath.Join(dir, "clip.mp4")
	if err := os.WriteFile(words, Scene{Colour: color.Transparent, Lines: lines}.picture(t, 0), 0o600); err != nil {
		t.Fatal(err)
	}
	join := ":"
	if !strings.Contains(source, "=") {
		join = "="
	}
	source += fmt.Sprintf("%ssize=%dx%d:rate=%d", join, Width, Height, Rate)
	FFmpeg(t, "-f", "lavfi", "-i", source, "-i", words, "-filter_complex", "[0:v][1:v]overlay,format=yuv420p",
		"-t", "3", "-c:v", "mpeg4", "-q:v", "4", clip)
	return clip
}

// FFmpeg runs it, quietly.
func FFmpeg(t testing.TB, args ...string) {
	t.Helper()
	Need(t, "ffmpeg")
	out, err := exec.Command("ffmpeg", append([]string{"-nostdin", "-y", "-loglevel", "error"}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("ffmpeg: %v: %s", err, out)
	}
}

func (s Scene) picture(t testing.TB, frame int) []byte {
	t.Helper()
	picture := image.NewRGBA(image.Rect(0, 0, Width, Height))
	draw.Draw(picture, picture.Bounds(), image.NewUniform(s.Colour), image.Point{}, draw.Src)
	if s.Slide > 0 {
		x := frame * s.Slide % Width
		draw.Draw(picture, image.Rect(x, 0, x+Width/4, Height), image.NewUniform(opposite(s.Colour)), image.Point{}, draw.Src)
	}
	face := face(t)
	for i, line := range s.Lines {
		write(picture, face, line, Height/3+i*90)
	}
	var out bytes.Buffer
	if err := png.Encode(&out, picture); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func opposite(c color.Color) color.Color {
	if color.GrayModel.Convert(c).(color.Gray).Y > 127 {
		return color.Black
	}
	return color.White
}

func face(t testing.TB) font.Face {
	t.Helper()
	parsed, err := opentype.Parse(gobold.TTF)
	if err != nil {
		t.Fatal(err)
	}
	made, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: 56, DPI: 72})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// write puts a line in the middle, as captions of short videos look.
func write(picture draw.Image, face font.Face, line string, y int) {
	x := (Width - font.MeasureString(face, line).Round()) / 2
	for _, edge := range []image.Point{{-3, 0}, {3, 0}, {0, -3}, {0, 3}} {
		one := font.Drawer{Dst: picture, Src: image.Black, Face: face, Dot: fixed.P(x+edge.X, y+edge.Y)}
		one.DrawString(line)
	}
	one := font.Drawer{Dst: picture, Src: image.White, Face: face, Dot: fixed.P(x, y)}
	one.DrawString(line)
}
