// Package modeltest is a chat endpoint that a test scripts. It takes sound to
// transcribe too.
package modeltest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/scrollery/scrollery/plugins/internal/model"
	"github.com/scrollery/scrollery/plugins/stage"
)

// Key is the one that the endpoint takes.
const Key = "sk-test-secret"

// Question is what the endpoint was asked.
type Question struct {
	// System is what the instructions say; Data the JSON text beside them.
	System, Data string
	// Images counts the pictures.
	Images int
	Model  string
	// Form is the name of the answer's form.
	Form string
	// Sound is the file that is to be transcribed, of which the rest but Model is empty.
	Sound []byte
}

// Answer is what it says: a text, where Status is 0 or 200, else an error with Code.
type Answer struct {
	Text       string
	Status     int
	Code       string
	RetryAfter string
	// Raw replaces the whole body.
	Raw string
}

// Server is the endpoint.
type Server struct {
	*httptest.Server
	mu    sync.Mutex
	asked []Question
}

// New starts an endpoint that answers as script says; it may block.
func New(t testing.TB, script func(r *http.Request, q Question) Answer) *Server {
	t.Helper()
	s := &Server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sound := r.URL.Path == "/v1/audio/transcriptions"
		if !sound && r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer "+Key {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		q, err := Question{}, error(nil)
		if sound {
			q, err = listen(r)
		} else {
			q, err = read(r.Body)
		}
		if err != nil {
			t.Errorf("the endpoint cannot read its question: %v", err)
		}
		s.mu.Lock()
		s.asked = append(s.asked, q)
		s.mu.Unlock()
		script(r, q).write(w)
	}))
	t.Cleanup(s.Close)
	return s
}

// Asked are the questions so far.
func (s *Server) Asked() []Question {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Question(nil), s.asked...)
}

// Call is one that asks this endpoint.
func (s *Server) Call() stage.Call {
	return stage.Call{
		Settings: map[string]string{model.EndpointSetting: s.URL + "/v1", model.ModelSetting: "tester"},
		Secrets:  map[string]string{model.KeySecret: Key},
	}
}

func listen(r *http.Request) (Question, error) {
	file, _, err := r.FormFile("file")
	if err != nil {
		return Question{}, err
	}
	defer file.Close()
	q := Question{Model: r.FormValue("model"), Form: r.FormValue("response_format")}
	q.Sound, err = io.ReadAll(file)
	return q, err
}

func read(body io.Reader) (Question, error) {
	var sent struct {
		Model    string `json:"model"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		ResponseFormat struct {
			JSONSchema struct {
				Name string `json:"name"`
			} `json:"json_schema"`
		} `json:"response_format"`
	}
	if err := json.NewDecoder(body).Decode(&sent); err != nil {
		return Question{}, err
	}
	q := Question{Model: sent.Model, Form: sent.ResponseFormat.JSONSchema.Name}
	for _, message := range sent.Messages {
		if message.Role == "system" {
			if err := json.Unmarshal(message.Content, &q.System); err != nil {
				return q, err
			}
			continue
		}
		var parts []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}
		if err := json.Unmarshal(message.Content, &parts); err != nil {
			return q, err
		}
		for _, part := range parts {
			if part.Type == "image_url" {
				q.Images++
			}
			q.Data += part.Text
		}
	}
	return q, nil
}

func (a Answer) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	if a.RetryAfter != "" {
		w.Header().Set("Retry-After", a.RetryAfter)
	}
	if a.Status > 0 {
		w.WriteHeader(a.Status)
	}
	switch {
	case a.Raw != "":
		_, _ = io.WriteString(w, a.Raw)
	case a.Status > 299:
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"code": a.Code, "message": "no", "type": "error", "param": ""}})
	default:
		_ = json.NewEncoder(w).Encode(map[string]any{
			"id": "1", "object": "chat.completion", "model": "tester",
			"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": a.Text}}},
		})
	}
}
