package app

import (
	"time"

	"reeve/runtime/chat"
)

// Settings are all that an operator can set, one environment variable each.
// Nothing else is configurable and no package reads the environment: wiring
// hands each one what it needs.
//
// Tags: one, min, max and may say what a value may be, doc what it does, group
// begins a section of the documentation, and later marks what is checked but
// has no effect yet. The table in docs/configuration.md and .env.example are
// made from them.
type Settings struct {
	SlackAppToken Secret `env:"SLACK_APP_TOKEN" group:"Slack" may:"an app-level token, which begins with xapp-" doc:"Opens the sockets over which Slack sends events. Needs the scope connections:write. Required by run."`
	SlackBotToken Secret `env:"SLACK_BOT_TOKEN" may:"a bot token, which begins with xoxb-" doc:"Reads and posts as the bot. Required by run."`
	SlackAPIURL   string `env:"SLACK_API_URL" envDefault:"https://slack.com/api/" may:"an https URL, or an http URL of this machine (127.0.0.1, ::1, localhost)" doc:"Where Slack's Web API is. Change it only to speak to a simulator."`
	SlackSockets  int    `env:"SLACK_SOCKETS" envDefault:"2" min:"1" max:"2" doc:"Sockets that one replica holds. With two, a refresh of one leaves no gap; the second is opened only while Slack counts fewer than eight for the app, of ten that it allows."`

	OpenAIAPIKey   Secret `env:"OPENAI_API_KEY" group:"Model" may:"a key without white space" doc:"Key of the model's provider. Required by run unless OPENAI_BASE_URL is set."`
	OpenAIBaseURL  string `env:"OPENAI_BASE_URL" may:"an http or https URL without a query, such as http://127.0.0.1:11434/v1" doc:"Any service that speaks OpenAI's chat completions. Empty: OpenAI."`
	OpenAIModel    string `env:"OPENAI_MODEL" may:"a model's name as its provider writes it" doc:"The model that answers. Required by run."`
	RouterModel    string `env:"ROUTER_MODEL" may:"a model's name as its provider writes it" doc:"The small model that sorts mid-run messages in the mode router. Empty: OPENAI_MODEL."`
	EmbeddingModel string `env:"EMBEDDING_MODEL" may:"a model's name as its provider writes it" doc:"The model that makes embeddings for memory. Empty: none."`

	RedisURL        string `env:"REDIS_URL" secret:"url" group:"Redis" may:"redis://host:6379/0, rediss://..., redis+sentinel://host1,host2/master or redis+cluster://host1,host2, with user:password@ before the hosts where it is needed" doc:"Where conversations and turns are kept. Empty: embedded and in memory, all of it lost when the process ends."`
	RedisPrefix     string `env:"REDIS_PREFIX" envDefault:"reeve" may:"1 to 32 letters, digits, '_', '-' or '.'" doc:"First part of every key, so that deployments can share a Redis."`
	RedisDurability string `env:"REDIS_DURABILITY" envDefault:"warn" one:"warn require ignore" doc:"What to do when Redis may lose what it has acknowledged: say so, refuse to start, or nothing."`

	CrossActorMidRunMode string           `env:"CROSS_ACTOR_MID_RUN_MODE" envDefault:"follow_up" group:"Who may do what" one:"follow_up steer router" doc:"What becomes of a message that another person addresses to the bot while a turn runs: it waits for a turn of its own, or joins the running turn as information. router: it waits, and a small model is asked whether it belongs to the running turn; the same model may let a message of the person whose turn runs wait, where it plainly asks for something else."`
	SameActorMidRunMode  string           `env:"SAME_ACTOR_MID_RUN_MODE" envDefault:"steer" one:"steer follow_up" doc:"The same, for the person whose turn runs: the message steers the turn, or waits."`
	StopPolicy           string           `env:"STOP_POLICY" envDefault:"anyone" one:"anyone actor" doc:"Who may stop a turn: anyone who may speak to the bot, or only the person for whom it works."`
	StopReaction         string           `env:"STOP_REACTION" envDefault:"octagonal_sign" may:"a reaction's name without colons" doc:"The reaction that stops a turn."`
	MultiActorWrites     string           `env:"MULTI_ACTOR_WRITES" envDefault:"ask" one:"ask block" doc:"What becomes of a call that changes something, in a turn that another person has steered: its actor is asked if it spends his rights or sends data out, or it is refused in any case."`
	WriteConsent         string           `env:"WRITE_CONSENT" envDefault:"foreign" one:"foreign always conflict" doc:"When a call that changes something with somebody's account asks him first: with text in the prompt that he has not typed in this turn, always, or only after another person's steer."`
	ConsentTimeout       time.Duration    `env:"CONSENT_TIMEOUT" envDefault:"1h" min:"1s" max:"168h" doc:"How long a question to a person waits for its answer, or a turn for an account to be connected. After that the calls count as not approved, and the turn goes on."`
	AllowExternal        bool             `env:"ALLOW_EXTERNAL" envDefault:"false" doc:"Whether people of other organisations may instruct the bot, and whether it answers in channels shared with them."`
	AllowGuests          bool             `env:"ALLOW_GUESTS" envDefault:"false" doc:"Whether guests of the workspace may instruct the bot."`
	AllowedChannels      []chat.ChannelID `env:"ALLOWED_CHANNELS" ids:"C G D" may:"channel ids by comma, such as C024BE91L (not names)" doc:"The channels in which the bot answers. 1:1 direct messages are no channels, and are narrowed by ALLOWED_USERS alone. Empty: every one that it is in."`
	AllowedUsers         []chat.UserID    `env:"ALLOWED_USERS" ids:"U W" may:"user ids by comma, such as U024BE7LH (not names)" doc:"The people who may instruct the bot. Guests and people of other organisations must be on it too, besides being allowed. Empty: every member of the workspace."`

	MaxWaitingMessages   int           `env:"MAX_WAITING_MESSAGES" envDefault:"50" group:"Bounds" min:"1" max:"1000" doc:"Messages that may wait in one conversation, at most ten of them of one person. Beyond, a message is refused, and its author told."`
	MaxAttempts          int           `env:"MAX_ATTEMPTS" envDefault:"5" min:"1" max:"100" doc:"How many workers may lose a turn without progress before it is abandoned, and its actor told."`
	MaxSteps             int           `env:"MAX_STEPS" envDefault:"50" min:"1" max:"1000" doc:"Model calls of one turn."`
	MaxRunningTurns      int           `env:"MAX_RUNNING_TURNS" envDefault:"500" min:"1" max:"10000" doc:"Turns that one replica runs at once. Beyond, a turn waits at its place."`
	MaxTurnTokens        int           `env:"MAX_TURN_TOKENS" envDefault:"200000" min:"1000" max:"100000000" doc:"Tokens that one turn may spend, prompts and answers together."`
	ContextTokens        int           `env:"CONTEXT_TOKENS" envDefault:"100000" min:"1000" max:"10000000" doc:"Tokens of one prompt. Earlier turns and the thread get a quarter each."`
	TurnTimeout          time.Duration `env:"TURN_TIMEOUT" envDefault:"15m" min:"1s" max:"24h" doc:"How long one turn may run; waiting does not count."`
	DailyTokensPerPerson int           `env:"DAILY_TOKENS_PER_PERSON" envDefault:"0" min:"0" max:"1000000000" doc:"Tokens that the turns of one person may spend in a day of UTC. 0: no limit."`
	ShutdownGrace        time.Duration `env:"SHUTDOWN_GRACE" envDefault:"10s" min:"1s" max:"5m" doc:"How long a model or tool call in flight may go on after SIGTERM."`
	RetentionDays        int           `env:"RETENTION_DAYS" envDefault:"30" min:"1" max:"3650" doc:"Days after which a conversation that nobody touches is forgotten, and an ended turn. Nothing open is."`
	AuditDays            int           `env:"AUDIT_DAYS" envDefault:"365" min:"1" max:"3650" doc:"Days for which the audit log keeps a record of each call that spends somebody's rights, of each answer to a question, and of each account that is connected or disconnected."`

	HTTPAddr   string `env:"HTTP_ADDR" group:"Listening" may:"host:port or :port" doc:"Where /healthz, /readyz and /metrics are served. Empty: nowhere."`
	PublicAddr string `env:"PUBLIC_ADDR" may:"host:port or :port, not that of HTTP_ADDR" doc:"Where the pages and callbacks by which people connect accounts are served, and nothing else. Belongs to PUBLIC_URL. Empty: nowhere."`
	PublicURL  string `env:"PUBLIC_URL" may:"an https URL, or an http URL of this machine (127.0.0.1, ::1, localhost)" doc:"How browsers reach PUBLIC_ADDR. Empty: accounts are connected by a code (the device flow), where the provider has that."`

	CredentialKeys   Secret   `env:"CREDENTIAL_KEYS" group:"Extensions" may:"VERSION:KEY by comma, VERSION being 1 to 16 letters, digits or '_', and KEY 32 bytes in base64 (openssl rand -base64 32); the first one writes" doc:"Keys that seal people's accounts; see credentials.md. Empty: nobody can connect one."`
	MCPConfig        string   `env:"MCP_CONFIG" may:"the path of a readable file" doc:"The file that lists MCP servers, whose tools are then offered; see mcp.md. SIGHUP has it read again. Other variables that begin with MCP_ can be filled into it."`
	OAuthProviders   []string `env:"OAUTH_PROVIDERS" may:"names of providers by comma: lower-case letters, digits and '_'" doc:"The providers at which people can connect accounts: atlassian, github, google, linear, notion, sentry, or one of your own; see credentials.md. Each has settings that begin with its name, and all need CREDENTIAL_KEYS. Empty: none."`
	Plugins          []string `env:"PLUGINS" may:"names of plugins by comma: lower-case letters, digits and '_'" doc:"Which of the compiled-in plugins are on, all of them named. Empty: all but memory, which asks the model once or twice more after each turn and makes the bot more careful (see limits.md), and echo, the example for authors."`
	MemoryExtraction string   `env:"MEMORY_EXTRACTION" envDefault:"on" one:"on off" doc:"Whether memories are proposed after a turn."`

	LogLevel  string `env:"LOG_LEVEL" envDefault:"info" group:"Logging" one:"debug info warn error" doc:"The least level that is logged. No level shows secrets, and info and above show no message's text."`
	LogFormat string `env:"LOG_FORMAT" one:"text json" doc:"Empty: text on a terminal, json elsewhere."`
}
