package model

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/openai/openai-go"
)

// Segment is a part of what is said; times in seconds from the start.
type Segment struct {
	Start float64 `json:"start"`
	End   float64 `json:"end"`
	Text  string  `json:"text"`
	// Whisper's own doubts; 0 if another service says nothing.
	NoSpeech    float64 `json:"no_speech_prob"`
	LogProb     float64 `json:"avg_logprob"`
	Compression float64 `json:"compression_ratio"`
}

// Transcript is what is said.
type Transcript struct {
	// Language as the endpoint names it, such as `en` or `english`; empty if it does not.
	Language string
	Segments []Segment
}

// Transcribe has the endpoint write down what a WAV file says, with its times. None
// at all is an answer; a text without times is ErrAnswer.
func (e *Endpoint) Transcribe(ctx context.Context, wav []byte) (said Transcript, err error) {
	defer Waiting(e.progress, "waiting for the endpoint", signOfLife)()
	answered, err := e.audio.New(ctx, openai.AudioTranscriptionNewParams{
		File: openai.File(bytes.NewReader(wav), "sound.wav", "audio/wav"), Model: e.model,
		ResponseFormat: openai.AudioResponseFormatVerboseJSON,
	})
	if err != nil {
		return said, e.fault(ctx, err)
	}
	e.turnedDown.Store(0)
	var answer struct {
		Text     string    `json:"text"`
		Language any       `json:"language"`
		Segments []Segment `json:"segments"`
	}
	if err := json.Unmarshal([]byte(answered.RawJSON()), &answer); err != nil {
		return said, fmt.Errorf("%w: %w", ErrAnswer, err)
	}
	if answer.Text != "" && len(answer.Segments) == 0 {
		return said, fmt.Errorf("%w: a text without times", ErrAnswer)
	}
	language, _ := answer.Language.(string)
	return Transcript{language, answer.Segments}, nil
}
