// The scenarios, each a row: what the server does that a client has to live with.
internal import SightlineProtos

extension Scenario {
    /// All scenarios, in the order of the report.
    package static let all: [Scenario] =
        Self.ordinary + Self.limits + Self.verdicts + Self.ends + Self.refusals

    private static let ordinary = [
        Scenario("plain", "each request is answered at once"),
        Scenario("no-events", "there is nothing to send").with { $0.hasEvents = false },
        Scenario("slow-answers", "each answer takes 150 ms").with {
            $0.streams[0].answerDelay = .milliseconds(150)
        },
        Scenario("batched-acks", "one answer settles three requests, with rejections in them")
            .with {
                $0.streams[0].requestsPerAnswer = 3
                $0.streams[0].answerDelay = .milliseconds(100)
                $0.verdicts = .some([.rejected])
            },
        Scenario("key", "the server wants a key").with { $0.needsKey = true },
        Scenario("newer-server", "answers have fields and a verdict that nobody knows yet").with {
            $0.streams[0].isNewer = true
            $0.verdicts = .some([.UNRECOGNIZED(Self.unknownVerdict)])
        },
        Scenario("large-answer", "the first answer has 5 MiB").with {
            $0.streams[0].paddingBytes = 5 << 20
        },
    ]

    /// A number that no verdict of this version has.
    static let unknownVerdict = 42

    private static let limits = [
        Scenario("limit-events", "a request may have two events").with {
            $0.streams[0].limits.maxEvents = 2
        },
        Scenario("limit-bytes", "a request may have 600 bytes").with {
            $0.streams[0].limits = ToldLimits(maxEvents: 1000, maxRequestBytes: 600)
        },
        Scenario("limit-requests", "three requests may be under way").with {
            $0.streams[0].limits = ToldLimits(maxEvents: 2, maxRequests: 3)
            $0.streams[0].answerDelay = .milliseconds(50)
        },
    ]

    private static let verdicts = [
        Scenario("rejected", "some events are rejected amid others").with {
            $0.verdicts = .some([.rejected])
        },
        Scenario("suppressed", "some events are suppressed, for every reason").with {
            $0.verdicts = .some([
                .suppressedFlagOff, .suppressedFlagUnknown, .suppressedConsent,
                .suppressedTestMessage, .suppressedDisplay,
            ])
        },
        Scenario("whole-request", "the third request is refused as a whole").with {
            $0.streams[0].refusedRequest = 3
        },
        Scenario("retry-later", "some events have to come again, some twice").with {
            $0.verdicts = .later(times: 2)
        },
        Scenario("journal-full", "each event has to come again").with {
            $0.verdicts = .full(times: 1)
            $0.waitsForFirst = false
        },
    ]

    private static func cut(
        isRecorded: Bool, absence: Duration = .zero, answers: Int = 2
    ) -> StreamPlan {
        StreamPlan(
            end: PlannedEnd(
                answers: answers, manner: .cut(isRecorded: isRecorded, absence: absence)))
    }

    private static let ends = [
        Scenario("cut-before-ack", "the connection is cut before anything is durable").with {
            $0.streams = [Self.cut(isRecorded: false), StreamPlan()]
        },
        Scenario("cut-after-durable", "the connection is cut between durable and the ack").with {
            $0.streams = [Self.cut(isRecorded: true), StreamPlan()]
        },
        Scenario("cuts", "the connection is cut three times").with {
            $0.streams = [
                Self.cut(isRecorded: false), Self.cut(isRecorded: true, answers: 1),
                Self.cut(isRecorded: false, answers: 0), StreamPlan(),
            ]
        },
        Scenario("closing", "the server announces that it will end the stream").with {
            let end = PlannedEnd(answers: 2, manner: .closing(grace: .seconds(3)))
            $0.streams = [
                StreamPlan(answerDelay: .milliseconds(100), end: end), StreamPlan(),
            ]
        },
        Scenario("goaway", "the connection gets GOAWAY, and then ends").with {
            $0.streams = [
                StreamPlan(end: PlannedEnd(answers: 2, manner: .goAway)), StreamPlan(),
            ]
        },
        Scenario("away-at-start", "nobody listens for 1.2 s at the start").with {
            $0.absence = .milliseconds(1200)
        },
        Scenario("away", "the server goes away for 1.2 s").with {
            $0.streams = [
                Self.cut(isRecorded: false, absence: .milliseconds(1200)), StreamPlan(),
            ]
        },
        Scenario("back-and-full", "the server goes away, comes back overloaded, then full").with {
            $0.streams = [
                Self.cut(isRecorded: true, absence: .milliseconds(400)),
                StreamPlan(refusal: .overloaded(.milliseconds(400))), StreamPlan(),
            ]
            $0.verdicts = .later(times: 1)
        },
        Scenario("watermark-ahead", "after a cut, the watermark is beyond what was sent").with {
            $0.streams = [Self.cut(isRecorded: false), StreamPlan(firstWatermark: 1 << 40)]
            $0.hasEarlyVerdicts = true
        },
    ]

    private static let refusals = [
        Scenario("overloaded", "the server is overloaded twice, and says for how long").with {
            let refusal = StreamPlan(refusal: .overloaded(.milliseconds(500)))
            $0.streams = [refusal, refusal, StreamPlan()]
        },
        Scenario("quota", "a quota ends the stream, and says for how long").with {
            let end = PlannedEnd(answers: 2, manner: .status(.quota(.milliseconds(600))))
            $0.streams = [StreamPlan(end: end), StreamPlan()]
        },
        Scenario("proxy", "a proxy ends the stream, without a reason").with {
            let end = PlannedEnd(answers: 2, manner: .status(.proxy))
            $0.streams = [StreamPlan(end: end), StreamPlan()]
        },
        Self.refused("credentials-refused", "the key is refused", .credentials),
        Self.refused("scope-missing", "the key lacks the scope", .scope),
        Scenario("refused-midway", "the server refuses the client in the middle").with {
            let end = PlannedEnd(answers: 2, manner: .status(.malformed))
            $0.streams = [StreamPlan(end: end)]
            $0.isRefused = true
        },
    ]

    private static func refused(_ name: String, _ title: String, _ refusal: Refusal) -> Scenario {
        Scenario(name, title).with {
            $0.streams = [StreamPlan(refusal: refusal)]
            $0.waitsForFirst = false
            $0.isRefused = true
        }
    }
}
