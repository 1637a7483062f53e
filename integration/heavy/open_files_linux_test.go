package heavy_test

import (
	"fmt"
	"os"
	"time"

	"bosh-aws-cpi/integration/driver"
)

// watchFiles returns the most files that a process had open, when it has ended.
func watchFiles(running *driver.Running) int {
	folder := fmt.Sprintf("/proc/%d/fd", running.PID())
	most := 0
	for {
		files, err := os.ReadDir(folder)
		if err != nil || len(files) == 0 {
			return most
		}
		most = max(most, len(files))
		time.Sleep(5 * time.Millisecond) // a look now and then: it is a peak of seconds
	}
}
