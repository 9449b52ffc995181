package github

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// versionOf names what an issue says now: when it was touched last, and a hash
// of what a person who reads it would see changed. The time alone would do if it
// were finer than a second.
func (i issue) version() string {
	return versionOf(i.UpdatedAt, i.Title, i.Body, i.State, i.Locked, i.Comments)
}

// version of a pull request holds also where its branches stand.
func (p pull) version() string {
	return versionOf(p.UpdatedAt, p.Title, p.Body, p.State, p.Locked, p.Comments, p.ReviewComments, p.Draft, p.Merged, p.Head.SHA, p.Base.Ref)
}

func versionOf(touched time.Time, what ...any) string {
	hash := sha256.New()
	for _, one := range what {
		fmt.Fprintf(hash, "%q\n", fmt.Sprint(one))
	}
	return touched.UTC().Format("2006-01-02T15:04:05Z") + "-" + hex.EncodeToString(hash.Sum(nil))[:12]
}
