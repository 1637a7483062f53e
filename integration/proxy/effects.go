package proxy

import (
	"net/http"
	"time"

	"bosh-aws-cpi/integration/emulator/query"
)

// Effect is what a rule does to a call: before it is served, after, or both.
type Effect struct {
	before func(*exchange) // sets the exchange's answer to end the call
	after  func(*exchange)
}

// Fail answers with an AWS error in the form that the service's protocol has.
func Fail(status int, code, message string) Effect {
	return Effect{before: func(x *exchange) {
		x.answer = Failure{status, code, message}.render(x.Call, "scripted")
	}}
}

// SlowDown answers with the service's own throttling error.
func SlowDown() Effect {
	return Effect{before: func(x *exchange) {
		x.answer = throttled(x.Service).render(x.Call, "scripted")
	}}
}

// Reply answers with this body, whatever it is.
func Reply(status int, contentType, body string) Effect {
	return Effect{before: func(x *exchange) {
		x.answer = &answer{
			status: status,
			header: http.Header{"Content-Type": {contentType}},
			body:   []byte(body),
			fault:  "scripted",
		}
	}}
}

// HTML answers with a page, as a load balancer or a captive portal does.
func HTML(status int) Effect {
	return Reply(status, "text/html", "<!doctype html><html><head><title>"+http.StatusText(status)+
		"</title></head><body><h1>"+http.StatusText(status)+"</h1></body></html>\n")
}

// DropRequest resets the connection before the call has any effect.
func DropRequest() Effect {
	return Effect{before: func(x *exchange) { x.answer = &answer{drop: true, fault: "request dropped"} }}
}

// DropReply lets the call have its effect and resets the connection instead
// of answering.
func DropReply() Effect {
	return Effect{after: func(x *exchange) { x.answer = &answer{drop: true, fault: "reply dropped"} }}
}

// HangRequest never answers, and the call has no effect.
func HangRequest() Effect { return Effect{before: hang} }

// HangReply lets the call have its effect and never answers.
func HangReply() Effect { return Effect{after: hang} }

func hang(x *exchange) {
	<-x.ctx.Done()
	x.answer = &answer{drop: true, fault: "hung"}
}

// Delay serves the call that much later.
func Delay(d time.Duration) Effect { return Effect{before: func(x *exchange) { pause(x, d) }} }

// DelayReply keeps the answer back for that long.
func DelayReply(d time.Duration) Effect { return Effect{after: func(x *exchange) { pause(x, d) }} }

// pause is cut short when the caller goes away. The call is served all the
// same: it is on the wire.
func pause(x *exchange, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-x.ctx.Done():
	}
}

// Before calls a function before the call is served, and waits for it.
func Before(hook func(Call)) Effect {
	return Effect{before: func(x *exchange) { hook(x.proxy.recorder.copyOf(x.Call)) }}
}

// After calls a function when the call has had its effect and before its
// answer goes out.
func After(hook func(Call)) Effect {
	return Effect{after: func(x *exchange) { hook(x.proxy.recorder.copyOf(x.Call)) }}
}

// Rewrite changes the XML of a good answer.
func Rewrite(change func(call Call, root *query.Node)) Effect {
	return Effect{after: func(x *exchange) {
		if x.answer.ok() {
			call := x.proxy.recorder.copyOf(x.Call)
			x.answer = x.answer.rewrite(func(root *query.Node) { change(call, root) })
			x.answer.fault = "rewritten"
		}
	}}
}

// ShowInstance has DescribeInstances say that all instances it shows are in
// this state for this reason.
func ShowInstance(state, reasonCode, reasonMessage string) Effect {
	return Rewrite(func(_ Call, root *query.Node) {
		for _, item := range root.All("reservationSet/item/instancesSet/item") {
			setInstanceState(item, state)
			item.Set("stateReason/code", reasonCode)
			item.Set("stateReason/message", reasonCode+": "+reasonMessage)
			item.Set("reason", reasonMessage)
		}
	})
}

// ShowVolume does it for DescribeVolumes; EC2 gives no reason there.
func ShowVolume(state string) Effect {
	return Rewrite(func(_ Call, root *query.Node) {
		for _, item := range root.All("volumeSet/item") {
			item.Set("status", state)
		}
	})
}

// ShowAttachment has DescribeVolumes and DescribeInstances say that all
// attachments they show are in this state.
func ShowAttachment(state string) Effect {
	return Rewrite(func(_ Call, root *query.Node) {
		for _, item := range root.All("volumeSet/item/attachmentSet/item") {
			item.Set("status", state)
		}
		for _, item := range root.All("reservationSet/item/instancesSet/item/blockDeviceMapping/item") {
			item.Set("ebs/status", state)
		}
	})
}

// ShowSnapshot does it for DescribeSnapshots.
func ShowSnapshot(state, message string) Effect {
	return Rewrite(func(_ Call, root *query.Node) {
		for _, item := range root.All("snapshotSet/item") {
			item.Set("status", state)
			item.Set("statusMessage", message)
		}
	})
}

// ShowImage does it for DescribeImages.
func ShowImage(state, reasonCode, reasonMessage string) Effect {
	return Rewrite(func(_ Call, root *query.Node) {
		for _, item := range root.All("imagesSet/item") {
			item.Set("imageState", state)
			item.Set("stateReason/code", reasonCode)
			item.Set("stateReason/message", reasonMessage)
		}
	})
}

// ShowInterface does it for DescribeNetworkInterfaces.
func ShowInterface(state string) Effect {
	return Rewrite(func(_ Call, root *query.Node) {
		for _, item := range root.All("networkInterfaceSet/item") {
			item.Set("status", state)
		}
	})
}

// ShowModification does it for DescribeVolumesModifications.
func ShowModification(state, message string) Effect {
	return Rewrite(func(_ Call, root *query.Node) {
		for _, item := range root.All("volumeModificationSet/item") {
			item.Set("modificationState", state)
			item.Set("statusMessage", message)
		}
	})
}

// Both joins two effects: what they do before, then what they do after.
func Both(first, second Effect) Effect {
	return Effect{
		before: func(x *exchange) {
			for _, effect := range []Effect{first, second} {
				if effect.before != nil && x.answer == nil {
					effect.before(x)
				}
			}
		},
		after: func(x *exchange) {
			for _, effect := range []Effect{first, second} {
				if effect.after != nil {
					effect.after(x)
				}
			}
		},
	}
}
