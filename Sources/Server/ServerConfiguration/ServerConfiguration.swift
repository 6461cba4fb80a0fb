// The configuration of a server, read once and checked whole before anything starts.
package import AdminServer
package import ConfigurationKeys
package import Credentials
internal import Foundation
package import HTTP2Edge
package import HTTPDoor
package import Logging
package import Operations
package import SinkKit
internal import Storage
package import Telemetry
package import TrackingJournal
package import TrackingRules
internal import WireFormat

/// All that a server needs to know. One immutable value.
package struct ServerConfiguration: Sendable {
    /// Host of the gRPC server.
    package var host = "127.0.0.1"
    /// Its port; 0 takes a free one.
    package var port = 50051
    /// Directory of the journal and the sinks' files.
    package var dataDirectory = "./sightline-data"
    /// Where hits go, if there is one sink.
    package var sink = SinkKind.sqlite
    /// Where hits go: at least one required sink, each with a name of its own.
    package var sinks: [ListedSink] { self.listedSinks ?? [ListedSink(self.sink)] }
    /// The sinks as the journal knows them: what their backends may lose is kept for so long.
    package var journalSinks: [JournalSink] { self.sinks.map { $0.journalSink(in: self) } }
    var listedSinks: [ListedSink]?
    /// The least severe log record that is written.
    package var logLevel = Logger.Level.info
    /// How log records look.
    package var logFormat = LogFormat.auto
    /// The time between log records of what was counted; zero for none.
    package var logSummaryInterval = Duration.seconds(10)
    /// What the operator decided of the rules.
    package var policy = Policy()
    /// Limits of requests and events.
    package var limits = Limits()
    /// Bytes of requests that may be under way on a lone connection.
    package var bytesInFlight = 256 << 20
    /// The share of them from which on new calls are refused, so that what is under way has room.
    /// It has no key.
    package var bytesInFlightSoftPercent = 80
    /// Calls that record no event and may wait until it is their turn. With the largest requests
    /// 100 hold less than half of the bytes in flight.
    package var maxWaitingCalls = 100
    /// What tenants may send.
    package var quotas = QuotaConfiguration()
    /// How a stream behaves.
    package var stream = StreamConfiguration()
    /// Which refused events are kept.
    package var quarantine = QuarantineConfiguration()
    /// Which totals of deliveries are kept.
    package var deliveries = DeliveryTotalsConfiguration()
    /// How recipients are named in what is recorded.
    package var privacy = PrivacyConfiguration()
    /// What readers of verdicts may cost.
    package var tap = TapConfiguration()
    /// How the journal behaves.
    package var journal = Journal.Configuration()
    /// The configurations of types of sinks by their type; defaults may be missing.
    var sinkConfigurations: [ObjectIdentifier: any SinkConfiguration] = [:]
    /// The configuration of a type of sink.
    package subscript<Keys: SinkConfiguration>(_ type: Keys.Type) -> Keys {
        get { self.sinkConfigurations[ObjectIdentifier(type)] as? Keys ?? Keys() }
        set { self.sinkConfigurations[ObjectIdentifier(type)] = newValue }
    }
    /// The largest delivery to the sink: as much as the grpc sink asks for by default.
    package var maxDelivery = BatchLimit(hits: 65_536, bytes: 16 << 20)
    /// Refused hits that are kept.
    package var maxDeadLetters = 100_000
    /// How long a stopping server still accepts, after it has said that it is not ready.
    package var drainDelay = Duration.zero
    /// How long a stopping server waits for its clients.
    package var drainTimeout = Duration.seconds(15)
    /// How long its sinks go on after that.
    package var flushTimeout = Duration.seconds(5)
    /// How long both may take together; then everything is cancelled. It has no key, so that a stop
    /// ends within 25 s and the delay whatever the two are.
    package var stopTimeout = Duration.seconds(22)
    /// How many connections there may be, and what each may do.
    package var connections = ConnectionConfiguration()
    /// What stands in front of the services.
    package var edge = EdgeConfiguration()
    /// Which hosts are Campaign's for its SDKs.
    package var postback = PostbackConfiguration()
    /// Watches of health that may be open at once.
    package var maxHealthWatchers = 100
    /// Whether clients may ask what the server's services look like.
    package var isReflectionEnabled = true
    /// Where a person looks at the server.
    package var admin = AdminConfiguration()
    /// Where clients without gRPC are served.
    package var http = HTTPConfiguration()

    /// How spans are recorded and exported.
    package var traces = TracesConfiguration()

    /// How the gRPC port is secured.
    package var tls = ServerTLSConfiguration()
    /// Who may send.
    package var auth = AuthConfiguration()
    /// Whether it may be open to the network without TLS or credentials.
    package var allowInsecure = false

    /// Whether it is tried on a developer's machine (`serve --dev`). It has no key, so that no file
    /// and no variable can say so of a server in production.
    package var isDevelopment = false

    /// Every value at its default.
    package init() {}

    /// Reads and checks every key.
    ///
    /// - Throws: `ConfigurationError` with every problem that was found.
    init(_ source: ConfigurationValues) throws(ConfigurationError) {
        var values = source
        for setting in values.settings where setting.isUsable {
            setting.key.set(setting.text, &self)
        }
        let listen = values.text("listen")
        (self.host, self.port) = values.address("listen", listen)
        // Streams are told of the end in time for it to come before the connections are cut.
        self.stream.closingGrace = min(self.stream.closingGrace, self.drainTimeout / 2)
        self.readSinks(&values)
        self.checkSinks(&values)
        self.checkTraces(&values)
        self.admin.read(&values)
        let configuration = self
        self.http.read(&values) { configuration.exposure(of: $0) }
        self.checkPostbacks(&values)
        if let exposure = self.exposure(of: self.host) { values.refuse("listen", exposure) }
        guard values.problems.isEmpty else { throw ConfigurationError(values.problems) }
    }
}

extension ServerConfiguration {
    /// Reads the key `sinks`, after those of the journal.
    private mutating func readSinks(_ values: inout ConfigurationValues) {
        let text = values.text("sinks")
        if text.isEmpty { return }
        let list = SinkList(
            text,
            journalBytes: self.journal.mode == .disk
                ? self.journal.maxBytes : self.journal.maxCachedBytes)
        for problem in list.problems { values.refuse("sinks", problem) }
        if values.isSet("sink") {
            values.refuse("sinks", "sink is set as well: list that sink too, or unset one of them")
        }
        if list.problems.isEmpty { self.listedSinks = list.sinks }
    }

    private func checkTraces(_ values: inout ConfigurationValues) {
        var problems = ConfigurationProblems<TracesConfiguration>()
        self.traces.check(&problems)
        for problem in problems.found { values.refuse(problem.key, problem.rule) }
    }

    private func checkPostbacks(_ values: inout ConfigurationValues) {
        var problems = ConfigurationProblems<PostbackConfiguration>()
        self.postback.check(&problems)
        for problem in problems.found { values.refuse(problem.key, problem.rule) }
        if !self.postback.hosts.isEmpty, self.http.address == nil {
            values.refuse("postback.hosts", "needs http.listen too: no request comes without it")
        }
    }

    /// Adds sinks that are no kind of this program's. Without a list in `sinks` they are the only
    /// ones.
    ///
    /// - Throws: `ConfigurationError` if a name is none, or is given twice.
    package mutating func add(ownSinks names: [String]) throws(ConfigurationError) {
        var sinks = self.listedSinks ?? []
        for name in names {
            guard SinkItem.isName(name) else {
                throw ConfigurationError([
                    "the sink's name \"\(name)\" has to be \(SinkItem.nameRule)"
                ])
            }
            guard !sinks.contains(where: { $0.name == name }) else {
                throw ConfigurationError(["two sinks have the name \(name)"])
            }
            // What it is, the factory is told by its name.
            sinks.append(ListedSink(.discard, name: name))
        }
        self.listedSinks = sinks
    }
}

extension ServerConfiguration: KeyedConfiguration {
    /// Every key, in the order of the documentation: a section stands where its first key does.
    package static let keys: [Key] = Self.bySection([
        [
            .init(
                "listen", .text("127.0.0.1:50051"), "address and port of the gRPC server",
                unit: "address"),
            .flag(
                "allow_insecure", \.allowInsecure,
                "whether listen and http.listen may be open to the network without TLS or "
                    + "credentials"),
        ],
        Self.keys(of: \.tls),
        [
            .text(
                "data_dir", \.dataDirectory, "directory of the journal and the sinks' files",
                unit: "directory"),
            .choice("sink", \.sink, "where hits go, if that is one sink", isReloadable: true),
            .init(
                "sinks", .text(""),
                "several sinks at once: a list with type, name (default: its type), required "
                    + "(default true), max_lag_bytes (kept for a sink that is not required, "
                    + "default 1 GiB, at most half of the journal), from (oldest or newest, where "
                    + "a new sink begins), paused (default false), filter (fields tenant, app, "
                    + "product, platform, kind, action, delivery, each a value or a list, and not "
                    + "with the same fields), and its type's keys, which change with a restart",
                unit: "list", isReloadable: true),
            .choice(
                "log.level", \.logLevel, "the least severe log record that is written",
                isReloadable: true),
            .choice(
                "log.format", \.logFormat,
                "how log records look; auto is text on a terminal, JSON objects in lines "
                    + "elsewhere"),
            .duration(
                "log.summary_seconds", \.logSummaryInterval, 0...86_400,
                "seconds between log records of what was counted, if anything was; 0 for none"),
        ],
        Self.keys(of: \.policy), Self.keys(of: \.limits),
        [
            .number(
                "limits.bytes_in_flight", \.bytesInFlight, (1 << 20)...(1 << 40),
                "bytes of requests that may be under way, of which each of N tenants may have the "
                    + "N-th part in any case; beyond that its streams are not read, and from 80 % "
                    + "on its new calls are refused",
                unit: "bytes"),
            .number(
                "limits.waiting_calls", \.maxWaitingCalls, 1...10_000,
                "calls that record no event (ExplainEvents, InspectPayload, ExplainDelivery, "
                    + "PutDeliveries) that may wait until it is their turn, by tenant; each of N "
                    + "tenants may have the N-th part of them in any case", unit: "calls"),
        ],
        Self.keys(of: \.stream), Self.keys(of: \.quotas), Self.keys(of: \.journal),
        Self.keys(of: \.journal.ledger), Self.keys(of: \.deliveries),
        SinkKind.allCases.flatMap(\.row.keys),
        [
            .number(
                "delivery.max_bytes", \.maxDelivery.bytes, 1...(1 << 40),
                "bytes of groups joined for one delivery; 1 joins none, and a sink may ask for "
                    + "less"),
            .number(
                "delivery.max_hits", \.maxDelivery.hits, 1...100_000_000,
                "hits of groups joined for one delivery; 1 joins none, and a sink may ask for less",
                unit: "hits"),
            .number(
                "dead_letters.max_rows", \.maxDeadLetters, 1...100_000_000,
                "refused hits that are kept; beyond them the oldest of the tenant that has most go "
                    + "first"),
        ],
        Self.keys(of: \.quarantine), Self.keys(of: \.privacy),
        [
            .duration(
                "drain.delay_seconds", \.drainDelay, 0...60,
                "seconds that a stopping server still accepts after it has said NOT_SERVING, so "
                    + "that balancers turn away first; the stop takes so much longer"),
            .duration(
                "drain.seconds", \.drainTimeout, 1...20,
                "seconds that a stopping server waits for its clients"),
            .duration(
                "drain.sink_seconds", \.flushTimeout, 0...20,
                "seconds that its sinks go on after that, 22 with drain.seconds; then requests "
                    + "under way are cancelled, and come again at the next start"),
        ],
        Self.keys(of: \.auth), Self.keys(of: \.connections), Self.keys(of: \.edge),
        PostbackHostList.keys,
        [
            .number(
                "health.max_watchers", \.maxHealthWatchers, 0...10_000,
                "watches of health that may be open at once, of which each of N peers' addresses "
                    + "may have the N-th part in any case", unit: "watches"),
            .flag(
                "reflection.enabled", \.isReflectionEnabled,
                "whether clients may ask what the services look like"),
        ],
        Self.keys(of: \.admin), Self.keys(of: \.http), Self.keys(of: \.tap),
        Self.keys(of: \.traces),
    ])

    // Several parts have keys of one section.
    private static func bySection(_ lists: [[Key]]) -> [Key] {
        var (sections, keys) = ([String](), [String: [Key]]())
        for key in lists.joined() {
            let section = key.section
            if keys[section] == nil { sections.append(section) }
            keys[section, default: []].append(key)
        }
        return sections.flatMap { keys[$0] ?? [] }
    }
}
