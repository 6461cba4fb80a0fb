// A server with a sink of its own: it prints each hit.
import SightlineSinks

/// Prints hits. A real one returns `.delivered` once they are stored durably.
struct PrintingSink: HitSink {
    let name = "print"

    func deliver(_ batch: SinkBatch) async -> SinkResult {
        for hit in batch.hits {
            print(hit.tenant, hit.kind, hit.deliveryID)
        }
        return .delivered
    }
}

let settings = ["listen": "127.0.0.1:50051", "data_dir": "sink-swift-data"]
try await SightlineServer.run(
    sinks: [PrintingSink()], configurationFile: CommandLine.arguments.dropFirst().first,
    settings: CommandLine.arguments.count > 1 ? [:] : settings)
