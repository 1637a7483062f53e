package proxy

import "bosh-aws-cpi/integration/emulator/query"

// createSnapshot: moto's snapshots are completed at once. AWS: pending.
func createSnapshot(p *Proxy, x *exchange) *answer {
	a := pass(p, x)
	if !a.ok() {
		return a
	}
	return a.rewrite(func(root *query.Node) {
		showPending(root)
		p.states.come(root.Value("snapshotId"), "pending", p.states.now().SnapshotCompleted)
	})
}

func showPending(snapshot *query.Node) {
	snapshot.Set("status", "pending")
	snapshot.Set("progress", "")
}

func showSnapshots(p *Proxy, _ *exchange, root *query.Node) {
	for _, item := range root.All("snapshotSet/item") {
		if p.states.of(item.Value("snapshotId")) != "" {
			showPending(item)
		}
	}
}

// deleteSnapshot: moto does not know that an image registered from a snapshot
// uses it, and has no message for one that it does not know. AWS: has both.
func deleteSnapshot(p *Proxy, x *exchange) *answer {
	id := x.Param("SnapshotId")
	if image := p.world.imageOn(id); image != "" {
		return refuse(x, "InvalidSnapshot.InUse", "The snapshot "+id+" is currently in use by "+image)
	}
	a := pass(p, x)
	if a.errorCode() == "InvalidSnapshot.NotFound" {
		return notFound(query.EC2, id).render(x.Call, "")
	}
	return a
}
