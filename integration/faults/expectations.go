package main

// expectation is what the contract says about a fault.
type expectation struct {
	// kinds are the error types of which the answer has one; none: it succeeds.
	kinds []string
	// maySucceed says that success is right as well.
	maySucceed bool
	// mayBeIdle says that a success may have changed less than a clean run's:
	// AWS calls unknown what is there.
	mayBeIdle bool
	// retry is ok_to_retry. Only create_vm's is read by the Director.
	retry bool
	// says are words of the message: the first cause.
	says []string
}

// success: what passes by itself is no failure of the call.
func success(scenario, site) expectation { return expectation{} }

// refusal: AWS's code is told, and trying again would not help.
func refusal(s scenario, at site) expectation {
	return expectation{kinds: []string{s.failure}, says: []string{at.call.Action, refusalCode(at)}}
}

// failing: AWS is out of order for longer than max_retries; later it may not be.
func failing(says ...string) func(scenario, site) expectation {
	return func(s scenario, at site) expectation {
		return expectation{kinds: []string{s.failure}, retry: true, says: append([]string{at.call.Action}, says...)}
	}
}

// misled: something that is not AWS answers as if all were well. The message
// says what answered.
func misled(s scenario, at site) expectation {
	return expectation{kinds: []string{s.failure}, says: []string{at.call.Action, "text/html", "HTTP status 200"}}
}

// neverSeen: AWS said that it made something and does not know it a minute
// later; another try may go better.
func neverSeen(s scenario, at site) expectation {
	return expectation{kinds: []string{s.failure}, retry: true}
}

// goneOrNot: a resource of the caller's is unknown once. A short grace makes it
// a success; where gone is as good as done, there is nothing to wait for.
func goneOrNot(s scenario, at site) expectation {
	expected := goneForGood(s, at)
	expected.maySucceed = true
	return expected
}

// goneForGood: a resource of the caller's does not exist.
func goneForGood(s scenario, at site) expectation {
	kind := s.gone[at.call.Action]
	if kind == "" {
		return expectation{mayBeIdle: true}
	}
	return expectation{kinds: []string{kind}, says: []string{at.named}}
}

// interruption: the call ends early and says so, or was done already. Who ends
// it does not want another try.
func interruption(s scenario, _ site) expectation {
	return expectation{kinds: []string{s.failure, cloudError}, maySucceed: true, says: []string{"SIGTERM"}}
}
