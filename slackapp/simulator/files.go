package simulator

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"path"
	"strings"
	"time"
)

// File is a file in Slack, as messages and files.info show it.
type File struct {
	ID                 string `json:"id"`
	Name               string `json:"name"`
	Title              string `json:"title"`
	Mimetype           string `json:"mimetype"`
	Filetype           string `json:"filetype"`
	Size               int    `json:"size"`
	User               string `json:"user"`
	Mode               string `json:"mode"`
	IsExternal         bool   `json:"is_external"`
	FileAccess         string `json:"file_access,omitempty"`
	URLPrivate         string `json:"url_private"`
	URLPrivateDownload string `json:"url_private_download,omitempty"`
}

// NewFile is a file to be shared with a message.
type NewFile struct {
	Name     string
	Mimetype string // found from Content when empty
	Content  []byte
	// ExternalURL: the file lies elsewhere, at an address that its sharer
	// chose.
	ExternalURL string
	// CheckInfo: the message shows only that files.info must be asked, as for
	// files from another organisation.
	CheckInfo bool
}

type storedFile struct {
	File
	content  []byte
	channels []string
	name     string
	shared   bool
}

// storeFile makes a file and returns it as the message shows it. The lock is
// held.
func (s *Server) storeFile(user, channel string, f NewFile) File {
	id := s.nextID("F")
	if f.Mimetype == "" {
		f.Mimetype, _, _ = strings.Cut(http.DetectContentType(f.Content), ";")
	}
	name := path.Base("/" + f.Name)
	file := File{
		ID: id, Name: name, Title: f.Name, Mimetype: f.Mimetype, Filetype: strings.TrimPrefix(path.Ext(f.Name), "."),
		Size: len(f.Content), User: user, Mode: "hosted",
	}
	if f.ExternalURL != "" {
		file.Mode, file.IsExternal, file.URLPrivate = "external", true, f.ExternalURL
	} else {
		file.URLPrivate = s.URL() + "/files/" + id + "/" + name
		file.URLPrivateDownload = file.URLPrivate
	}
	s.files[id] = &storedFile{File: file, content: bytes.Clone(f.Content), channels: []string{channel}, shared: true}
	if f.CheckInfo {
		return File{ID: id, User: user, Mode: "file_access", FileAccess: "check_file_info"}
	}
	return file
}

// mayRead: the bot stands in a channel where the file was shared.
func (s *Server) mayRead(f *storedFile) bool {
	for _, id := range f.channels {
		if c := s.world.Channels[id]; c != nil && c.has(s.world.Bot.UserID) {
			return true
		}
	}
	return false
}

func (s *Server) filesInfo(a args) (answer, error) {
	f := s.files[a.get("file")]
	if f == nil || !f.shared || !s.mayRead(f) {
		return nil, fail("file_not_found")
	}
	return answer{"file": f.File, "comments": []any{}}, nil
}

// serveFile gives the content to the bot's token. Everybody else is sent to a
// sign-in page with status 200, as Slack does.
func (s *Server) serveFile(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	f := s.files[r.PathValue("id")]
	var content []byte
	var mime string
	good := f != nil && r.Header.Get("Authorization") == "Bearer "+s.o.BotToken && s.needScope("files:read") == nil && s.mayRead(f)
	if good {
		content, mime = f.content, f.Mimetype
	}
	s.mu.Unlock()
	if !good {
		if r.URL.Query().Get("redir") == "" {
			http.Redirect(w, r, r.URL.Path+"?redir="+r.URL.Path, http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!DOCTYPE html><html><body>Sign in to Slack</body></html>")
		return
	}
	w.Header().Set("Content-Type", mime)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// uploadURL, serveUpload and completeUpload are the three steps of an upload.
func (s *Server) uploadURL(a args) (answer, error) {
	length := a.number("length", 0)
	if a.get("filename") == "" || length <= 0 {
		return nil, fail("invalid_arguments")
	}
	id := s.nextID("F")
	s.uploads[id] = &storedFile{name: a.get("filename"), File: File{ID: id, Size: length}}
	return answer{"upload_url": s.URL() + "/upload/" + id, "file_id": id}, nil
}

func (s *Server) serveUpload(w http.ResponseWriter, r *http.Request) {
	var body io.Reader = http.MaxBytesReader(w, r.Body, maxBody)
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data") {
		r.Body = io.NopCloser(body)
		parts, err := r.MultipartReader()
		if err != nil {
			http.Error(w, "bad upload", http.StatusBadRequest)
			return
		}
		if body, err = parts.NextPart(); err != nil {
			http.Error(w, "bad upload", http.StatusBadRequest)
			return
		}
	}
	content, err := io.ReadAll(body)
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.uploads[r.PathValue("id")]
	if err != nil || f == nil || len(content) != f.Size {
		http.Error(w, "bad upload", http.StatusBadRequest)
		return
	}
	f.content = content
	_, _ = io.WriteString(w, "OK - "+r.PathValue("id"))
}

// completeUpload shares uploaded files. Slack does that later and returns no
// ts; here it is done at once, and no ts is returned either.
func (s *Server) completeUpload(a args) (answer, error) {
	var list []struct{ ID, Title string }
	if json.Unmarshal([]byte(a.get("files")), &list) != nil || len(list) == 0 {
		return nil, fail("invalid_arguments")
	}
	for _, f := range list {
		if up := s.uploads[f.ID]; up == nil || up.content == nil {
			return nil, fail("file_not_found")
		}
	}
	bot := s.world.Bot
	channel := a.get("channel_id")
	if channel == "" {
		channel = a.get("channels")
	}
	m := &Message{User: bot.UserID, BotID: bot.BotID, AppID: bot.AppID, Team: bot.TeamID, own: true, Subtype: "file_share", Text: a.get("initial_comment")}
	var c *Channel
	if channel != "" {
		var err error
		if c, err = s.postTarget(channel); err != nil {
			return nil, err
		}
		m.Channel = c.ID
		if root := a.get("thread_ts"); root != "" {
			if m.ThreadTS, err = s.threadFor(c, root); err != nil {
				return nil, err
			}
		}
	}
	for _, f := range list {
		up := s.uploads[f.ID]
		m.Files = append(m.Files, s.storeFile(bot.UserID, channel, NewFile{Name: up.name, Content: up.content}))
		delete(s.uploads, f.ID)
	}
	if c != nil {
		s.post(c, m, nil)
	}
	return answer{"files": m.Files}, nil
}
