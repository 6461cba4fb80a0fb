// Sends events by the client library for Swift, with the arguments and lines that library.py
// describes.
import Foundation
import SightlineClient
import SightlineProtos

let toldEvery = 100
let closeTime = Duration.seconds(300)

/// The arguments: the target, and values by their names.
struct Arguments {
    let target: String
    private var values: [String: String] = [:]

    init(_ arguments: [String]) {
        self.target = arguments.first ?? ""
        var rest = arguments.dropFirst()
        while let name = rest.popFirst() {
            self.values[name] = name == "--quiet" ? "" : rest.popFirst()
        }
    }

    var isQuiet: Bool { self.values["--quiet"] != nil }
    func text(_ name: String) -> String? { self.values[name] }
    func number(_ name: String, _ standard: Double) -> Double {
        self.values[name].flatMap(Double.init) ?? standard
    }
}

/// An event with one hit, whose id is its number.
func event(_ space: String, _ number: Int) -> Sightline_V1_TrackingEvent {
    var event = Sightline_V1_TrackingEvent()
    let digits = String(number, radix: 16)
    event.eventID = "\(number)"
    event.appID = "com.example.shop"
    event.subjectID = "subject-\(number % 5000)"
    event.trackAction.deliveryID = "1f"
    event.trackAction.broadlogID =
        "h" + space + String(repeating: "0", count: max(0, 8 - digits.count)) + digits
    event.trackAction.action = .open
    return event
}

func tell(_ line: [String: Any]) throws {
    // In one piece: two tasks tell.
    FileHandle.standardOutput.write(try JSONSerialization.data(withJSONObject: line) + [10])
}

/// The seconds that this process has used.
func processTime() -> Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    let microseconds = usage.ru_utime.tv_usec + usage.ru_stime.tv_usec
    return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + Double(microseconds) / 1e6
}

func configuration(_ arguments: Arguments) throws -> ClientConfiguration {
    var configuration = ClientConfiguration(address: try ServerAddress(arguments.target))
    configuration.limits.maxEvents = Int(arguments.number("--batch", 100))
    configuration.maxPendingEvents = Int(arguments.number("--max-pending", 10_000))
    configuration.keepaliveTime = .seconds(arguments.number("--keepalive", 20))
    configuration.keepaliveTimeout = .seconds(1)
    configuration.collectsResults = !arguments.isQuiet
    configuration.credential = arguments.text("--token-file").map(ClientCredential.init(path:))
    configuration.spool = arguments.text("--spool").map { SpoolConfiguration(directory: $0) }
    if let roots = arguments.text("--tls-roots") {
        configuration.security = .tls(
            rootsPath: roots, certificatePath: arguments.text("--tls-certificate"),
            keyPath: arguments.text("--tls-key"))
    }
    return configuration
}

/// Sends all events, at the rate.
func send(_ client: SightlineClient, _ arguments: Arguments, _ made: [Sightline_V1_TrackingEvent])
    async throws
{
    let space = arguments.text("--space") ?? ""
    let first = Int(arguments.number("--first", 0))
    let rate = arguments.number("--rate", 0)
    let started = ContinuousClock.now
    for number in first..<Int(arguments.number("--events", 0)) {
        try await client.send(made.isEmpty ? event(space, number) : made[number - first])
        guard !arguments.isQuiet, (number + 1) % toldEvery == 0 else { continue }
        try tell(["taken": number + 1])
        guard rate > 0 else { continue }
        try await Task.sleep(until: started + .seconds(Double(number + 1 - first) / rate))
    }
}

if CommandLine.arguments.contains("--conformance") { exit(try await conform()) }
if CommandLine.arguments.contains("--ending") {
    let left: SightlineClient?
    do {
        left = try await end(Array(CommandLine.arguments.dropFirst(2)))
    } catch {
        FileHandle.standardError.write(Data("\(error)\n".utf8))
        exit(1)
    }
    // Whoever does not close a client has it until the process ends.
    withExtendedLifetime(left) { exit(0) }
}
let arguments = Arguments(Array(CommandLine.arguments.dropFirst()))
let client = try SightlineClient(try configuration(arguments))
// Made before the clock starts: an application has its events.
let made =
    arguments.isQuiet
    ? (Int(arguments.number("--first", 0))..<Int(arguments.number("--events", 0))).map {
        event(arguments.text("--space") ?? "", $0)
    } : []
let (started, used) = (ContinuousClock.now, processTime())
async let running: Void = client.run()
async let told: Void = {
    var count = 0
    for await _ in client.results {
        count += 1
        if count % toldEvery == 0 { try tell(["settled": count]) }
    }
}()
if let path = arguments.text("--payload") {
    let platform: Sightline_V1_Platform = arguments.text("--platform") == "IOS" ? .ios : .android
    let payload = try Data(contentsOf: URL(filePath: path))
    let verdict = try await send(payload, of: platform, by: client).verdict
    print(Sightline_V1_EventResult.with { $0.verdict = verdict }.textFormatString(), 1)
}
try await send(client, arguments, made)
let report = try await client.close(timeout: closeTime)
let seconds = (ContinuousClock.now - started) / .seconds(1)
let cpuSeconds = processTime() - used
try await running
try await told
let statistics = client.statistics
let verdicts = statistics.verdicts.map { ("\($0.rawValue)", $1) }
try tell([
    "end": [
        "verdicts": Dictionary(uniqueKeysWithValues: verdicts), "pending": report.pendingCount,
        "streams": statistics.streamCount, "resent_requests": statistics.resentRequestCount,
        "retried_events": statistics.retriedEventCount, "seconds": seconds,
        "cpu_seconds": cpuSeconds,
    ]
])
