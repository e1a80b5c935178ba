package stage

import (
	"errors"
	"fmt"
	"time"
)

// Fault is whose fault an error is.
type Fault string

// The faults. An error without one is the stage's own: it broke.
const (
	// FaultBusy is a site that cannot answer now; another try may help.
	FaultBusy Fault = "busy"
	// FaultQuota is a spent allowance; it helps to wait until it is renewed.
	FaultQuota Fault = "quota"
	// FaultRefused is a site that refuses the stage's credentials.
	FaultRefused Fault = "refused"
	// FaultNotFound is a site that has nothing there.
	FaultNotFound Fault = "not_found"
	// FaultMisconfigured is a setting or secret that is missing or wrong.
	FaultMisconfigured Fault = "misconfigured"
	// FaultInternal is the stage's own.
	FaultInternal Fault = "internal"
)

// Error is an error with a fault.
type Error struct {
	Fault Fault
	// Message is for the log and for people, without secrets; 4 KiB of it are kept.
	Message string
	// RetryAt is when another try makes sense; zero if unknown.
	RetryAt time.Time
}

func (e *Error) Error() string { return e.Message }

// Busyf makes the error of a site that cannot answer now. A wait of zero or less is
// unknown.
func Busyf(wait time.Duration, format string, args ...any) error {
	err := &Error{Fault: FaultBusy, Message: fmt.Sprintf(format, args...)}
	if wait > 0 {
		err.RetryAt = time.Now().Add(wait)
	}
	return err
}

// Quotaf makes the error of a spent allowance that is renewed at until; zero is unknown.
func Quotaf(until time.Time, format string, args ...any) error {
	return &Error{Fault: FaultQuota, Message: fmt.Sprintf(format, args...), RetryAt: until}
}

// Refusedf makes the error of a site that refuses the stage's credentials.
func Refusedf(format string, args ...any) error {
	return &Error{Fault: FaultRefused, Message: fmt.Sprintf(format, args...)}
}

// NotFoundf makes the error of a site that has nothing there, for the whole call. Report
// one missing seed among several in an [Outcome].
func NotFoundf(format string, args ...any) error {
	return &Error{Fault: FaultNotFound, Message: fmt.Sprintf(format, args...)}
}

// Misconfiguredf makes the error of a setting or secret that is missing or wrong.
func Misconfiguredf(format string, args ...any) error {
	return &Error{Fault: FaultMisconfigured, Message: fmt.Sprintf(format, args...)}
}

// maxMessage is what of an error's text travels: a whole page of a site in it
// must not be more than a message may hold.
const maxMessage = 4 << 10

// fault is err with its fault; a plain error is the stage's own.
func fault(err error) *Error {
	text := err.Error()
	if text == "" {
		text = fmt.Sprintf("an error of type %T without words", err)
	}
	if len(text) > maxMessage {
		text = text[:maxMessage] + "…"
	}
	var typed *Error
	if errors.As(err, &typed) {
		return &Error{Fault: typed.Fault, Message: text, RetryAt: typed.RetryAt}
	}
	return &Error{Fault: FaultInternal, Message: text}
}

// Failure is why a scroll failed, as `failureCode` shows it. The host makes it from an
// [Error]; authors need it in no stage.
type Failure string

// The failures of stages and sources.
const (
	NoSources          Failure = "no_sources"
	SourceUnavailable  Failure = "source_unavailable"
	SourceQuota        Failure = "source_quota_exceeded"
	SourceUnauthorized Failure = "source_unauthorized"
	StageCrashed       Failure = "stage_crashed"
	StageTimeout       Failure = "stage_timeout"
	StageProtocol      Failure = "stage_protocol_error"
)

// CallError is the host's error of a call that failed.
type CallError struct {
	// Stage is the id of the stage.
	Stage   string
	Failure Failure
	// Retry reports whether another attempt can help.
	Retry bool
	// RetryAt is when, in Unix milliseconds; nil if unknown.
	RetryAt *int64
	// Setup is set if a setting, a secret or a program of the stage is missing or wrong.
	// Coverage shows it as misconfigured.
	Setup bool
	// Cause is the stage's own *Error, or how the process ended.
	Cause error
}

func (e *CallError) Error() string {
	text := "stage " + e.Stage + ": " + string(e.Failure)
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

func (e *CallError) Unwrap() error { return e.Cause }
