package sightline

import "fmt"

// PendingError says that a call ended before all events had their verdicts: how many have none, why,
// and what becomes of them. errors.Is and errors.As find Cause.
type PendingError struct {
	Pending int   // Events without a final verdict.
	Cause   error // The context's error, ErrClosed, or a *RefusedError.
	Last    error // As Stats.LastFailure. Nil if Cause says it all.
	fate    string
}

func (e *PendingError) Error() string {
	return fmt.Sprintf("sightline: %s%s: %v", counted(e.Pending), e.fate, because(e.Cause, e.Last))
}

func (e *PendingError) Unwrap() error { return e.Cause }

func counted(events int) string {
	if events == 1 {
		return "1 event has no verdict"
	}
	return fmt.Sprintf("%d events have no verdict", events)
}

// because adds the last failure to an error, which errors.Is still finds.
func because(err, last error) error {
	if last == nil {
		return err
	}
	return fmt.Errorf("%w; last failure: %v", err, last)
}

// pending is the error of a call that ended without verdicts. Called under the mutex.
func (c *Client) pending(events int, fate string, cause error) error {
	found := &PendingError{Pending: events, Cause: cause, fate: fate}
	if c.failure == nil {
		found.Last = c.lastFailure()
	}
	return found
}

// lastFailure is why there are no verdicts, as far as the client knows. Called under the mutex.
func (c *Client) lastFailure() error {
	if c.stats.LastFailure == nil && c.stop != nil && !c.outbox.stream.hasAnswer {
		return fmt.Errorf("%s has not answered yet", c.target)
	}
	return c.stats.LastFailure
}

// fate is what becomes of the events of a client that has ended.
func (c *Client) fate() string {
	if c.options.spool != nil {
		return ", kept in the spool " + c.options.spool.folder
	}
	return ", lost unless Unacknowledged is sent again (there is no spool)"
}
