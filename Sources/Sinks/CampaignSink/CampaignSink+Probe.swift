// `sightline sinks try`: whether Campaign's servers answer. No hit is sent: each would count.
internal import AsyncHTTPClient
internal import Foundation
internal import NIOHTTP1
internal import NIOSSL
package import SinkKit
internal import TrackingRules
internal import WireFormat

extension CampaignSink {
    /// None: each server has to answer, and `probe` looks at one after the other.
    package var probedHosts: [HostProbe] { [] }

    /// Asks each server of each tenant for the path of the requests, without ids: there is nothing
    /// to count. Writes nothing, because a customer's report would show it.
    package func probe(_ hit: HitBatch) async -> [ProbeStep] {
        var steps: [ProbeStep] = []
        for server in self.configuration.allServers {
            steps += await HostProbe.steps(ofOne: [Self.host(of: server)]) {
                [await self.ask(server)]
            }
            if steps.last?.outcome == .failed { return steps }
        }
        steps.append(
            .skipped("write", "no hit is sent: Campaign would count it in a customer's report"))
        return steps
    }

    private static func host(of server: PostbackServer) -> HostProbe {
        let url = URLComponents(string: server.url)
        let isSecure = url?.scheme == "https"
        return HostProbe(
            // Brackets belong to the URL, not to the address.
            host: (url?.host ?? "").trimmingCharacters(in: ["[", "]"]),
            port: url?.port ?? (isSecure ? 443 : 80), key: "campaign.servers",
            roots: isSecure ? "campaign.tls.roots" : nil, timeout: server.timeout)
    }

    /// The step `request`.
    private func ask(_ server: PostbackServer) async -> ProbeStep {
        do {
            let answer = try await self.client.answer(server.url, within: server.timeout)
            return Self.step(answer.status.code, of: server)
        } catch {
            // Errors of TLS have no URL, and say more.
            let reason =
                error is NIOSSLError || error is NIOSSLExtraError
                ? String(reasonOf: error) : PostbackClient.reason(error)
            return .failed(
                "request", "\(server.name): \(reason)",
                fix: "check that an HTTP server listens there, and "
                    + "campaign.standard_timeout_seconds or campaign.classic_timeout_seconds")
        }
    }

    /// What a status says of a request without ids.
    static func step(_ status: UInt, of server: PostbackServer) -> ProbeStep {
        let seen = "\(server.name) answers status \(status) to a request without ids"
        return switch status {
        case 300...399:
            .failed(
                "request", "\(seen): redirects are not followed",
                fix: "name the server that it leads to in campaign.servers")
        case 408, 429, 500...599:
            .failed(
                "request", "\(seen): it takes no hits now",
                fix: "try again later; hits wait in the journal meanwhile")
        case 400...499:
            // It may be what it answers where ids are missing.
            .worked(
                "request",
                "\(seen); if hits become dead letters with this status, check campaign.path")
        default: .worked("request", seen)
        }
    }
}

extension CampaignConfiguration {
    /// Each tenant's servers, by the tenants' names.
    fileprivate var allServers: [PostbackServer] {
        self.servers.keys.sorted().flatMap { tenant in
            [.standard, .classic].compactMap { self.server(of: tenant, $0) }
        }
    }
}
