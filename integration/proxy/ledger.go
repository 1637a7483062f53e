package proxy

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// LedgerVariable names a folder into which every process with a proxy writes which
// actions the CPI has called, each with the names of parameters that it has sent and
// no values. The test of the IAM policy reads it when all suites have run.
const LedgerVariable = "RECORD_AWS_CALLS"

// ledger is shared by all proxies of a process.
var ledger struct {
	sync.Mutex
	written map[string]bool
}

// noteInLedger writes down what is new in a call of the CPI.
func noteInLedger(call Call) {
	dir := os.Getenv(LedgerVariable)
	if dir == "" || !strings.Contains(call.UserAgent, "bosh-aws-cpi/") {
		return
	}
	ledger.Lock()
	defer ledger.Unlock()
	var news []string
	for _, line := range ledgerLines(call) {
		if !ledger.written[line] {
			news = append(news, line+"\n")
		}
	}
	if len(news) == 0 {
		return
	}
	if err := appendToLedger(dir, strings.Join(news, "")); err != nil {
		panic(fmt.Sprintf("%s: %v", LedgerVariable, err)) // a record with gaps is worse than none
	}
	if ledger.written == nil {
		ledger.written = map[string]bool{}
	}
	for _, line := range news {
		ledger.written[strings.TrimSuffix(line, "\n")] = true
	}
}

// ledgerLines are the action by itself and with each of its parameters.
func ledgerLines(call Call) []string {
	action := call.Service + " " + call.Action
	lines := map[string]bool{action: true}
	for name := range call.Params {
		lines[action+" "+withoutNumbers(name)] = true
	}
	for name := range call.JSON {
		lines[action+" "+name] = true
	}
	return slices.Sorted(maps.Keys(lines))
}

// withoutNumbers makes InstanceId of InstanceId.1.
func withoutNumbers(parameter string) string {
	parts := slices.DeleteFunc(strings.Split(parameter, "."), func(part string) bool {
		_, err := strconv.Atoi(part)
		return err == nil
	})
	return strings.Join(parts, ".")
}

func appendToLedger(dir, lines string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	file, err := os.OpenFile(filepath.Join(dir, strconv.Itoa(os.Getpid())), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(lines)
	if closed := file.Close(); err == nil {
		err = closed
	}
	return err
}
