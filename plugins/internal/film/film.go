package film

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/scrollery/scrollery/plugins/stage"
)

// formats are those that hold their pictures and sound themselves. A playlist or a
// list of parts would have ffmpeg open what it names.
const formats = "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mpegts,flv,avi,mpeg,ogg,asf,mp3,aac,wav"

// maxPixels of a frame: 8K. maxAlloc in bytes bounds one allocation.
const (
	maxPixels = 7680 * 4320
	maxAlloc  = 256 << 20
)

// FFmpeg runs it on the first seconds of a file. The arguments say what comes out;
// relative paths are in the call's scratch folder.
func FFmpeg(ctx context.Context, call *stage.Call, path string, seconds float64, args ...string) ([]byte, error) {
	return Run(ctx, call, "ffmpeg", slices.Concat([]string{
		"-nostdin", "-hide_banner", "-loglevel", "error", "-y", "-max_alloc", strconv.Itoa(maxAlloc),
		"-protocol_whitelist", "file", "-format_whitelist", formats,
		"-threads", "1", "-max_pixels", strconv.Itoa(maxPixels), "-t", strconv.FormatFloat(seconds, 'f', 3, 64),
		"-i", "file:" + path,
	}, args)...)
}

// Frames are pictures of the moments 0 s, 1 s, … as files in a folder of their own;
// fewer where the video is shorter. form is `png`, `jpg` or `webp`, width the most pixels
// across, filter what ffmpeg makes of each, or empty, and output its further options.
// Remove deletes the folder.
func Frames(ctx context.Context, call *stage.Call, path string, moments int, form string, width int, filter string, output ...string) (files []string, remove func(), err error) {
	dir, err := os.MkdirTemp(call.Scratch, "frames-")
	if err != nil {
		return nil, nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	pick := fmt.Sprintf("select='gte(t,selected_n)*lt(selected_n,%d)',scale='min(%d,iw)':-2", moments, width)
	if filter != "" {
		pick += "," + filter
	}
	if len(output) == 0 {
		output = []string{"-q:v", "4"}
	}
	_, err = FFmpeg(ctx, call, path, float64(moments), slices.Concat([]string{"-map", "0:v:0", "-an", "-sn", "-dn", "-vf", pick, "-fps_mode", "passthrough"},
		output, []string{filepath.Join(dir, "%d."+form)})...)
	if err == nil {
		for n := range moments {
			file := filepath.Join(dir, strconv.Itoa(n+1)+"."+form)
			if info, failed := os.Stat(file); failed == nil && info.Size() > 0 {
				files = append(files, file)
			}
		}
	}
	if err == nil && len(files) == 0 {
		err = &Error{"ffmpeg", "no frame came out"}
	}
	if err != nil {
		remove()
		return nil, nil, err
	}
	return files, remove, nil
}

// What a WAV of Sound takes, in bytes: its header, and each second.
const (
	SoundHeader = 44
	SoundSecond = 2 * soundRate
	soundRate   = 16_000
)

// Sound is that of the first seconds, as WAV: one channel, 16,000 samples a second.
// What the file says of itself is left out. It is empty if the video has none.
func Sound(ctx context.Context, call *stage.Call, path string, seconds int) ([]byte, error) {
	file, err := os.CreateTemp(call.Scratch, "sound-*.wav")
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name())
	if err := file.Close(); err != nil {
		return nil, err
	}
	_, err = FFmpeg(ctx, call, path, float64(seconds), "-map", "0:a:0", "-vn", "-sn", "-dn", "-ac", "1", "-ar", strconv.Itoa(soundRate), "-c:a", "pcm_s16le",
		"-map_metadata", "-1", "-fflags", "+bitexact", "-f", "wav", file.Name())
	if Unreadable(err) && strings.Contains(err.Error(), "matches no streams") {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(file.Name())
}
