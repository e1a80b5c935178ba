package customer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/scrollery/scrollery/cmd/scrollery/customer/login"
	"github.com/scrollery/scrollery/cmd/scrollery/customer/show"
	pb "github.com/scrollery/scrollery/proto/gen/scrollery/v1"
)

// Exit codes.
const (
	ExitDone     = 0
	ExitFailed   = 1
	ExitWrongUse = 2
	// ExitSignIn means that there is no key, or one that the server refuses.
	ExitSignIn = 4
	// ExitLimited means that a rate or a budget is used up; stderr has the seconds to wait.
	ExitLimited = 5
	// ExitScroll means that a scroll that was followed has failed or was cancelled.
	ExitScroll = 6
)

// ErrUse marks wrong use of a command, not a failure of its work.
var ErrUse = errors.New("wrong use")

// errScroll marks a scroll that ended badly.
var errScroll = errors.New("the scroll")

// Report prints the error of a command of this package on stderr, as JSON where the
// command was to print JSON, and returns the exit code. ok is false for another command.
func Report(cmd *cobra.Command, args []string, err error, stderr io.Writer, escape func(string) string) (code int, ok bool) {
	if _, ok = cmd.Annotations[annotation]; !ok {
		return 0, false
	}
	if err == nil {
		return ExitDone, true
	}
	code, body := explained(err)
	body.Message = Mask(body.GetMessage())
	asJSON := slices.ContainsFunc(args, func(arg string) bool {
		return arg == "--json" || arg == "--jq" || strings.HasPrefix(arg, "--json=") || strings.HasPrefix(arg, "--jq=")
	})
	if asJSON {
		fmt.Fprintf(stderr, "%s\n", show.JSON(body))
		return code, true
	}
	fmt.Fprintf(stderr, "scrollery: %s\n", escape(body.GetMessage()))
	for _, issue := range body.GetIssues() {
		fmt.Fprintf(stderr, "  %s: %s\n", escape(issue.GetPath()), escape(Mask(issue.GetMessage())))
	}
	if body.RetryAfter != nil {
		fmt.Fprintf(stderr, "Try again in %.0f seconds.\n", math.Ceil(body.GetRetryAfter()))
	}
	for _, address := range []string{body.GetSubscribeUrl(), body.GetTopupUrl()} {
		if address != "" {
			fmt.Fprintf(stderr, "See %s\n", escape(address))
		}
	}
	if code == ExitWrongUse {
		fmt.Fprintf(stderr, "See `%s --help`.\n", cmd.CommandPath())
	}
	return code, true
}

// explained is the exit code of an error and its body, that of the server where it has one.
func explained(err error) (int, *pb.Error) {
	var failed *connect.Error
	if body := refusal(err); body != nil {
		body, _ = proto.Clone(body).(*pb.Error)
		if errors.As(err, &failed) { // what the command adds stays
			body.Message = strings.ReplaceAll(err.Error(), failed.Error(), body.GetMessage())
		}
		return codeOf(body.GetError()), body
	}
	own := func(code int, kind string) (int, *pb.Error) {
		return code, &pb.Error{Error: kind, Message: err.Error()}
	}
	switch {
	case errors.Is(err, ErrUse):
		return own(ExitWrongUse, "wrong_use")
	case errors.Is(err, login.ErrNone):
		return own(ExitSignIn, "sign_in")
	case errors.Is(err, errScroll):
		return own(ExitScroll, "scroll_ended")
	case errors.As(err, &failed) && failed.Code() == connect.CodeUnauthenticated:
		return own(ExitSignIn, "unauthorized")
	case errors.Is(err, context.Canceled):
		return ExitFailed, &pb.Error{Error: "interrupted", Message: "interrupted: " + err.Error()}
	case errors.As(err, &failed) && failed.Code() == connect.CodeUnavailable:
		return ExitFailed, &pb.Error{Error: "unreachable", Message: "the server did not answer: see that it runs and that the address is right (`scrollery login` sets it): " + err.Error()}
	case errors.As(err, &failed):
		return ExitFailed, &pb.Error{Error: "unreachable", Message: "the server did not answer as the API does: " + err.Error()}
	}
	return own(ExitFailed, "failed")
}

func codeOf(kind string) int {
	switch kind {
	case "unauthorized", "auth_required":
		return ExitSignIn
	case "rate_limited":
		return ExitLimited
	case "invalid_request":
		return ExitWrongUse
	}
	return ExitFailed
}

// refusal is the body of a refused call; nil if the server did not refuse it.
func refusal(err error) *pb.Error {
	var answered *restError
	if errors.As(err, &answered) {
		return answered.body
	}
	var failed *connect.Error
	if !errors.As(err, &failed) {
		return nil
	}
	for _, detail := range failed.Details() {
		if value, err := detail.Value(); err == nil {
			if body, ok := value.(*pb.Error); ok {
				return body
			}
		}
	}
	return nil
}

// restError is a refused call over REST.
type restError struct{ body *pb.Error }

func (e *restError) Error() string { return e.body.GetMessage() }

// refused reads the body of a refused call over REST. Members that this release does not
// know are left out.
func refused(status string, text []byte) error {
	var body struct {
		Error, Message, SubscribeURL, TopupURL, RequiredScope, RequestID string
		RetryAfter                                                       *float64
		Issues                                                           []struct{ Path, Message string }
	}
	if json.Unmarshal(text, &body) != nil || body.Error == "" {
		return fmt.Errorf("the server answered %s", status)
	}
	known := &pb.Error{Error: body.Error, Message: body.Message, RetryAfter: body.RetryAfter}
	for name, value := range map[**string]string{
		&known.SubscribeUrl: body.SubscribeURL, &known.TopupUrl: body.TopupURL,
		&known.RequiredScope: body.RequiredScope, &known.RequestId: body.RequestID,
	} {
		if value != "" {
			*name = &value
		}
	}
	for _, issue := range body.Issues {
		known.Issues = append(known.Issues, &pb.Issue{Path: issue.Path, Message: issue.Message})
	}
	return &restError{known}
}
