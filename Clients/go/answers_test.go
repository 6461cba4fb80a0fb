package sightline

import (
	"os"
	"strconv"
	"strings"
	"testing"

	pb "github.com/sightline/sightline/Clients/go/sightline/v1"
)

func TestAnAnswerOfAPushServiceMeansWhatTheTableSays(t *testing.T) {
	table, err := os.ReadFile("../../Tests/Fixtures/send-answers.csv")
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(string(table)), "\n")[1:]
	if len(rows) < 50 {
		t.Error(len(rows), "rows")
	}
	for _, row := range rows {
		column := strings.Split(row, ",")
		status, err := strconv.Atoi(column[1])
		if err != nil {
			t.Fatal(row, err)
		}
		outcome := number(pb.PushSendOutcome_value, "PUSH_SEND_OUTCOME_", column[5])
		reason := number(pb.PushSendReason_value, "PUSH_SEND_REASON_", column[6])
		expected := PushAnswer{pb.PushSendOutcome(outcome), pb.PushSendReason(reason), column[7]}
		if answer := APNsOutcome(status, column[2]); column[0] != "fcm" && answer != expected {
			t.Errorf("%s: %v", row, answer)
		}
		failure := FCMError{Code: column[2], Field: column[3], Message: column[4]}
		if answer := FCMOutcome(status, failure); column[0] != "apns" && answer != expected {
			t.Errorf("%s: %v", row, answer)
		}
	}
}

// number is that of a name in the table; -1 if the contract has none.
func number(values map[string]int32, prefix, name string) int32 {
	if name == "" {
		return 0
	}
	if found, isKnown := values[prefix+strings.ToUpper(name)]; isKnown {
		return found
	}
	return -1
}
