package customer

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/scrollery/scrollery/cmd/scrollery/customer/show"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// importantFields are those whose absence changes what the library can say.
var importantFields = []string{"views", "likes", "comments", "shares", "saves", "followers", "postedAt", "handle", "sourceUrl"}

// showPreview prints what was understood of a file: warnings, columns, the first videos.
func (c *call) showPreview(file *importFile) error {
	report := file.preview.GetReport()
	if err := c.out.Say("%s: %s", file.shown, countOf(report)); err != nil {
		return err
	}
	room, read := int(file.preview.GetRoom()), int(report.GetRead())
	if read > room {
		if err := c.out.Say("warning: your plan has room for %s of them, if all are new", fmt.Sprint(room)); err != nil {
			return err
		}
	}
	if err := c.showWarnings(report); err != nil {
		return err
	}
	for _, one := range report.GetFiles() {
		if err := c.showFile(one, len(report.GetFiles()) > 1); err != nil {
			return err
		}
	}
	if at := report.GetCountsAt(); at != 0 {
		from := map[string]string{"request": "of the file, or as you said", "upload": "the present time"}[report.GetCountsFrom()]
		in := report.GetFiles()[0].GetCountsInFile()
		if err := c.out.Say("time of the counts: in the file for %s; else %s, "+from, fmt.Sprintf("%d of %d", in, report.GetRead()), show.Millis(at)); err != nil {
			return err
		}
	}
	return errors.Join(table(c, file.preview.GetFirst(), []show.Column[*pb.ImportedVideo]{
		{Name: "platform", Cell: func(v *pb.ImportedVideo) any { return v.GetPlatform() }},
		{Name: "id", Cell: func(v *pb.ImportedVideo) any { return v.GetExternalId() }},
		{Name: "creator", Cell: func(v *pb.ImportedVideo) any { return v.GetHandle() }, Cut: 24},
		{Name: "posted", Cell: func(v *pb.ImportedVideo) any { return show.Millis(v.GetPostedAt()) }},
		{Name: "views", Cell: func(v *pb.ImportedVideo) any { return v.Views }},
		{Name: "likes", Cell: func(v *pb.ImportedVideo) any { return v.Likes }},
		{Name: "read", Cell: func(v *pb.ImportedVideo) any { return show.Millis(v.GetObservedAt()) }},
		{Name: "caption", Cell: func(v *pb.ImportedVideo) any { return strings.Join(strings.Fields(v.GetCaption()), " ") }, Cut: 40},
	}), c.out.Say(""))
}

func countOf(report *pb.ImportReport) string {
	var formats []string
	for _, format := range report.GetFormats() {
		if format.GetVideos() > 0 {
			formats = append(formats, format.GetFormat())
		}
	}
	if len(formats) == 0 {
		return "no videos"
	}
	text := fmt.Sprintf("%s; %d readings", strings.Join(formats, " + "), report.GetRead())
	if days := len(report.GetDays()); days > 1 {
		text += fmt.Sprintf(" of %d days", days)
	}
	return text
}

// showWarnings prints what a person should see before anything is stored.
func (c *call) showWarnings(report *pb.ImportReport) error {
	var lines []string
	for _, skip := range report.GetSkipped() {
		line := fmt.Sprintf("skipped %d: %s", skip.GetCount(), skip.GetReason())
		if skip.GetFirstLine() > 0 {
			line += fmt.Sprintf(", first in line %d", skip.GetFirstLine())
		}
		if skip.GetFirstDetail() != "" {
			line += ": " + skip.GetFirstDetail()
		}
		lines = append(lines, line)
	}
	for _, file := range report.GetFiles() {
		for _, text := range file.GetNotUnderstood() {
			where := text.GetColumn()
			if text.GetLine() > 0 {
				where += fmt.Sprintf(" in line %d", text.GetLine())
			}
			lines = append(lines, fmt.Sprintf("not understood: %s: %q", where, text.GetText()))
		}
	}
	if report.GetDiffering() > 0 {
		lines = append(lines, fmt.Sprintf("%d readings differ wildly from what the library knows:", report.GetDiffering()))
	}
	for _, d := range report.GetDifferences() {
		known, read := fmt.Sprintf("%.0f", d.GetKnown()), fmt.Sprintf("%.0f", d.GetRead())
		if d.GetField() == "postedAt" {
			known, read = show.Millis(d.GetKnown()).String(), show.Millis(d.GetRead()).String()
		}
		lines = append(lines, fmt.Sprintf("  %s %s: %s %s, known %s", d.GetPlatform(), d.GetExternalId(), d.GetField(), read, known))
	}
	return c.each("warning", lines)
}

// showFile prints what one file was taken for.
func (c *call) showFile(file *pb.ImportFile, named bool) error {
	lead := ""
	if named {
		lead = file.GetName() + ": "
	}
	found := map[string]int32{}
	for _, field := range file.GetFields() {
		found[field.GetField()] = field.GetFound()
	}
	var fields, places []string
	if file.GetVideos() > 0 {
		for _, field := range importantFields {
			fields = append(fields, fmt.Sprintf("%s %d of %d", field, min(found[field], file.GetVideos()), file.GetVideos()))
		}
	}
	for _, place := range file.GetPlaces() {
		places = append(places, fmt.Sprintf("%s %d", place.GetPlace(), place.GetVideos()))
	}
	for _, line := range []struct{ name, text string }{
		{"read as", strings.Join(file.GetForm(), ", ")},
		{"found", strings.Join(fields, ", ")},
		{"places", strings.Join(places, ", ")},
	} {
		if line.text == "" {
			continue
		}
		if err := c.out.Say(line.name+": %s", lead+line.text); err != nil {
			return err
		}
	}
	err := table(c, file.GetColumns(), []show.Column[*pb.ImportColumn]{
		{Name: "column", Cell: func(o *pb.ImportColumn) any { return o.GetName() }, Cut: 40},
		{Name: "is", Cell: func(o *pb.ImportColumn) any {
			if o.GetField() == "" {
				return "not used"
			}
			return o.GetField()
		}},
		{Name: "because", Cell: func(o *pb.ImportColumn) any { return o.GetReason() }, Cut: 60},
	})
	if more := file.GetMoreColumns(); err == nil && more > 0 {
		err = c.out.Say("and %s more columns", fmt.Sprint(more))
	}
	if proposal := file.GetMap(); err == nil && file.GetDoubtful() {
		err = errors.Join(c.out.Say("\nA map to start from; save it, correct it, and name it with --map:"), c.out.Say("%s", proposal))
	}
	return err
}

// showImport prints what became of a file.
func (c *call) showImport(file *importFile, made *pb.Import) error {
	err := c.out.Pairs("import", made.GetId(), "file", file.shown, "status", made.GetStatus(), "new videos", made.GetNewVideos(),
		"seen again", made.GetSeenAgain(), "already there", made.GetAlreadyThere(), "no room", omitZero(made.GetNoRoom()),
		"failure", made.GetFailure(), "undo until", show.Millis(made.GetUndoUntil()))
	if err == nil && made.UndoUntil != nil {
		c.note("Undo it with `scrollery import undo %s`.", made.GetId())
	}
	return err
}

// omitZero is nil for 0, which is not printed.
func omitZero(n int32) any {
	if n == 0 {
		return nil
	}
	return n
}

// showImport draws the progress of an import.
func (b *bar) showImport(now *pb.Import) {
	percent := min(max(now.GetPercent(), 0), 100)
	if !b.c.err.Terminal {
		if status := now.GetStatus(); status != b.before || time.Since(b.shown) >= plainEvery {
			b.c.note("%s: %s, %s %%", now.GetId(), status, fmt.Sprintf("%.0f", percent))
			b.before, b.shown = status, time.Now()
		}
		return
	}
	done := int(percent / 100 * barWidth)
	b.draw(fmt.Sprintf("%s%s %3.0f %%  %-9s %d new", strings.Repeat("█", done), strings.Repeat("░", barWidth-done), percent,
		b.c.Escape(now.GetStatus()), now.GetNewVideos()))
}

// plainEvery is the time between two lines without a terminal.
const plainEvery = 10 * time.Second
