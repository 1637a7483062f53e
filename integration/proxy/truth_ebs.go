package proxy

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"bosh-aws-cpi/integration/emulator/query"
)

const (
	blockSize    = 512 << 10 // the only one that EBS has
	blocksPerGiB = 1 << 30 / blockSize
)

// Snapshot is what was written through EBS direct.
type Snapshot struct {
	VolumeGiB int
	Blocks    map[int][sha256.Size]byte // digests by index
	Completed bool
}

// Snapshot returns what was written to a snapshot that StartSnapshot has made
// through this proxy.
func (p *Proxy) Snapshot(id string) (Snapshot, bool) {
	p.uploads.mu.Lock()
	defer p.uploads.mu.Unlock()
	upload := p.uploads.byID[id]
	if upload == nil {
		return Snapshot{}, false
	}
	snapshot := *upload
	snapshot.Blocks = map[int][sha256.Size]byte{}
	for index, digest := range upload.Blocks {
		snapshot.Blocks[index] = digest
	}
	return snapshot, true
}

type uploads struct {
	mu   sync.Mutex
	byID map[string]*Snapshot
}

// put keeps a block's digest; its snapshot may be forgotten by now.
func (u *uploads) put(id string, index int, digest [sha256.Size]byte) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if snapshot := u.byID[id]; snapshot != nil {
		snapshot.Blocks[index] = digest
	}
}

func (u *uploads) complete(id string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if snapshot := u.byID[id]; snapshot != nil {
		snapshot.Completed = true
	}
}

func (u *uploads) forget() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.byID = map[string]*Snapshot{}
}

// startSnapshot: moto makes a volume for the snapshot, which stays; says that
// blocks have 512 bytes; and the snapshot is completed in the eyes of EC2. AWS:
// has no volume, blocks of 512 KiB and a snapshot that is pending.
func startSnapshot(p *Proxy, x *exchange) *answer {
	size, _ := x.JSON["VolumeSize"].(float64)
	if size < 1 || size > 65536 || size != float64(int(size)) {
		return invalid(x, "INVALID_VOLUME_SIZE", "The volume size must be between 1 and 65536 GiB.")
	}
	a := pass(p, x)
	var started map[string]any
	if !a.ok() || json.Unmarshal(a.body, &started) != nil {
		return a
	}
	id, _ := started["SnapshotId"].(string)
	p.uploads.mu.Lock()
	p.uploads.byID[id] = &Snapshot{VolumeGiB: int(size), Blocks: map[int][sha256.Size]byte{}}
	p.uploads.mu.Unlock()
	p.states.stay(id, "pending")
	if item, err := p.describe(x, "DescribeSnapshots", "SnapshotId", id, "snapshotSet/item"); err == nil {
		_, _ = p.ask(x, query.EC2, "DeleteVolume", "VolumeId", item.Value("volumeId")) // it is there
	}
	started["BlockSize"], started["Status"] = blockSize, "pending"
	if x.JSON["Encrypted"] == true {
		started["KmsKeyArn"] = x.JSON["KmsKeyArn"]
	}
	a.body, _ = json.Marshal(started) // it came from JSON
	return a
}

// putSnapshotBlock: moto takes anything. AWS: checks index, length and digest.
func putSnapshotBlock(p *Proxy, x *exchange) *answer {
	id, index, refused := p.block(x)
	if refused != nil {
		return refused
	}
	var digest [sha256.Size]byte
	_, _ = hex.Decode(digest[:], []byte(x.Body.SHA256)) // our own hex
	switch {
	case len(x.body) != blockSize || x.Header.Get("X-Amz-Data-Length") != strconv.Itoa(blockSize):
		return invalid(x, "INVALID_PARAMETER_VALUE", "A block has "+strconv.Itoa(blockSize)+" bytes.")
	case x.Header.Get("X-Amz-Checksum-Algorithm") != "SHA256":
		return invalid(x, "INVALID_PARAMETER_VALUE", "The checksum algorithm must be SHA256.")
	case x.Header.Get("X-Amz-Checksum") != base64.StdEncoding.EncodeToString(digest[:]):
		return invalid(x, "INVALID_PARAMETER_VALUE", "The checksum does not match the data.")
	}
	a := &answer{status: http.StatusCreated, header: http.Header{}, body: []byte("{}")}
	if !p.options.DiscardBlocks {
		a = pass(p, x)
	}
	if a.ok() {
		a.header.Set("X-Amz-Checksum", x.Header.Get("X-Amz-Checksum"))
		a.header.Set("X-Amz-Checksum-Algorithm", "SHA256")
		p.uploads.put(id, index, digest)
	}
	return a
}

// block finds snapshot and index of a block that is put.
func (p *Proxy) block(x *exchange) (id string, index int, refused *answer) {
	parts := strings.Split(strings.Trim(x.Path, "/"), "/")
	id = parts[1]
	gib, refused := p.writable(x, id)
	if refused != nil {
		return id, 0, refused
	}
	index, err := strconv.Atoi(parts[3])
	if err != nil || index < 0 || index >= gib*blocksPerGiB {
		return id, 0, invalid(x, "INVALID_BLOCK", "The block index "+parts[3]+" is outside of the volume.")
	}
	return id, index, nil
}

// writable refuses a snapshot that cannot be written (any more), and tells the
// size of one that can.
func (p *Proxy) writable(x *exchange, id string) (gib int, refused *answer) {
	p.uploads.mu.Lock()
	defer p.uploads.mu.Unlock()
	upload := p.uploads.byID[id]
	switch {
	case upload == nil:
		return 0, notFound(EBS, id).render(x.Call, "as AWS")
	case upload.Completed:
		return 0, invalid(x, "INVALID_SNAPSHOT_ID", "The snapshot '"+id+"' is not pending.")
	}
	return upload.VolumeGiB, nil
}

// completeSnapshot: moto completes anything. AWS: checks how many blocks were
// written and, if it is told, the digest over all their digests in the order
// of their indices; and takes a moment.
func completeSnapshot(p *Proxy, x *exchange) *answer {
	id := x.Path[strings.LastIndexByte(x.Path, '/')+1:]
	if _, refused := p.writable(x, id); refused != nil {
		return refused
	}
	upload, _ := p.Snapshot(id)
	if count := x.Header.Get("X-Amz-Changedblockscount"); count != strconv.Itoa(len(upload.Blocks)) {
		return invalid(x, "INVALID_PARAMETER_VALUE", "The changed blocks count "+count+" is not the number of blocks written, "+strconv.Itoa(len(upload.Blocks))+".")
	}
	if checksum := x.Header.Get("X-Amz-Checksum"); checksum != "" {
		if x.Header.Get("X-Amz-Checksum-Algorithm") != "SHA256" || x.Header.Get("X-Amz-Checksum-Aggregation-Method") != "LINEAR" {
			return invalid(x, "INVALID_PARAMETER_VALUE", "A checksum must be SHA256, aggregated LINEAR.")
		}
		if checksum != upload.linearChecksum() {
			return invalid(x, "INVALID_PARAMETER_VALUE", "The checksum does not match the blocks written.")
		}
	}
	a := pass(p, x)
	if a.ok() {
		p.uploads.complete(id)
		p.states.come(id, "pending", p.states.now().SnapshotCompleted)
		a.body = []byte(`{"Status":"pending"}`)
	}
	return a
}

func (s Snapshot) linearChecksum() string {
	indices := make([]int, 0, len(s.Blocks))
	for index := range s.Blocks {
		indices = append(indices, index)
	}
	slices.Sort(indices)
	sum := sha256.New()
	for _, index := range indices {
		digest := s.Blocks[index]
		sum.Write(digest[:])
	}
	return base64.StdEncoding.EncodeToString(sum.Sum(nil))
}

type listedBlock struct {
	BlockIndex blockIndex
	BlockToken string
}

// blockIndex reads a number that may be written as a string.
type blockIndex int

// UnmarshalJSON takes both forms.
func (i *blockIndex) UnmarshalJSON(text []byte) error {
	number, err := strconv.Atoi(strings.Trim(string(text), `"`))
	*i = blockIndex(number)
	return err
}

// listSnapshotBlocks: moto gives indices as strings, in the order of writing,
// and the wrong size. AWS: numbers, in their order.
func listSnapshotBlocks(p *Proxy, x *exchange) *answer {
	a := pass(p, x)
	var list struct {
		Blocks     []listedBlock
		VolumeSize any
		BlockSize  int
	}
	if !a.ok() || json.Unmarshal(a.body, &list) != nil {
		return a
	}
	slices.SortFunc(list.Blocks, func(a, b listedBlock) int { return int(a.BlockIndex - b.BlockIndex) })
	list.BlockSize = blockSize
	a.body, _ = json.Marshal(list) // it came from JSON
	return a
}

// invalid is EBS's ValidationException.
func invalid(x *exchange, reason, message string) *answer {
	a := Failure{http.StatusBadRequest, "ValidationException", message}.render(x.Call, "as AWS")
	a.body, _ = json.Marshal(map[string]string{"Message": message, "Reason": reason}) // two strings
	return a
}
