internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import NIOCore
internal import Operations
internal import SightlineProtos
internal import SwiftProtobuf
internal import TrackingRules

/// `GET /tap` on the admin socket: the verdicts of all tenants as they are given, one TapResponse
/// in JSON per line.
struct TapRoutes: Sendable {
    let tap: VerdictTap

    /// The interval of empty responses while there is nothing else to send: only a failed write
    /// shows that the reader has gone.
    private static let heartbeat = Duration.seconds(5)

    func add(to router: Router<BasicRequestContext>) {
        router.get("/tap") { request, _ in
            do {
                let reader = try self.reader(request.uri.queryParameters)
                return Response(
                    status: .ok, headers: [.contentType: "application/x-ndjson"],
                    body: ResponseBody { try await Self.show(reader, &$0) })
            } catch let error as TapRequestError {
                let violation = error.violation
                return AdminAnswer.text(
                    .badRequest, "\(violation.field): \(violation.description)\n")
            } catch let refusal as TapRefusal {
                return AdminAnswer.text(.serviceUnavailable, "\(refusal)\n")
            }
        }
    }

    /// The query has the fields of a TapRequest, and `tenant`.
    private func reader(
        _ query: FlatDictionary<Substring, Substring>
    ) throws -> TapReader {
        var request = Sightline_V1_TapRequest()
        request.appID = query["app_id"].map(String.init) ?? ""
        request.deliveryID = query["delivery_id"].map(String.init) ?? ""
        request.verdicts = try (query["verdicts"] ?? "").split(separator: ",").map(Self.verdict)
        // Text that is not a number becomes NaN, which is refused.
        request.samplingRatio = query["sampling_ratio"].map { Double($0) ?? .nan } ?? 1
        request.unmasked = query["unmasked"] == "true"
        let filter = try TapFilter(request, tenant: query["tenant"].map(String.init))
        return try self.tap.read(filter, from: .operatorSocket)
    }

    private static func verdict(_ name: Substring) throws -> Sightline_V1_Verdict {
        guard let verdict = Verdict(name: String(name)),
            let proto = Sightline_V1_Verdict(rawValue: Int(verdict.rawValue))
        else {
            throw TapRequestError(
                violation: Violation(
                    "verdicts", .range,
                    "there is none of that name: send some of "
                        + Verdict.allCases.map { "\($0.name)" }.joined(separator: ", ")))
        }
        return proto
    }

    private static func show(
        _ reader: TapReader, _ writer: inout any ResponseBodyWriter
    ) async throws {
        async let _: Void = Self.beat(reader)
        try await writer.write(Self.line(Sightline_V1_TapResponse()))
        for await _ in reader.wakes {
            try await writer.write(Self.line(reader.take() ?? Sightline_V1_TapResponse()))
            while let response = reader.take() {
                try await writer.write(Self.line(response))
            }
        }
        try await writer.finish(nil)
    }

    private static func beat(_ reader: TapReader) async {
        // The sleep throws only if cancelled.
        while (try? await Task.sleep(for: Self.heartbeat)) != nil { reader.wakeUp() }
    }

    private static func line(_ response: Sightline_V1_TapResponse) throws -> ByteBuffer {
        ByteBuffer(string: try response.jsonString() + "\n")
    }
}
