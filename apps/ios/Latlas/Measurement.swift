import Foundation
import UIKit

/// What a run came to.
struct Result: Identifiable {
    let id = UUID()
    /// The run's own table and the published one, as text.
    let tables: [String]
    /// The Run document, for `latlas import`.
    let document: URL
    let isPartial: Bool
}

/// Measures on a thread of its own, one run at a time.
@MainActor
final class Measurement: ObservableObject {
    @Published private(set) var isRunning = false
    @Published private(set) var fraction = 0.0
    @Published private(set) var remaining: TimeInterval = 0
    @Published var result: Result?
    @Published var failure: String?

    private var run: OpaquePointer?

    /// Measures these rows; none for the whole atlas.
    func start(_ rows: Set<String>) {
        guard run == nil, let run = latlas_run_new() else { return }
        self.run = run
        isRunning = true
        fraction = 0
        // A locked screen suspends the app, and the run with it.
        UIApplication.shared.isIdleTimerDisabled = true
        let progress = Progress { [weak self] done, planned, remaining in
            Task { @MainActor in
                self?.fraction = planned > 0 ? min(Double(done) / Double(planned), 1) : 0
                self?.remaining = remaining
            }
        }
        let thread = Thread { [weak self] in
            let status = measure(run, rows.sorted(), progress)
            Task { @MainActor in self?.finish(run, status) }
        }
        // The system moves threads of lower classes to efficiency cores.
        thread.qualityOfService = .userInteractive
        thread.stackSize = 8 << 20
        thread.start()
    }

    func cancel() {
        if let run { latlas_run_cancel(run) }
    }

    private func finish(_ run: OpaquePointer, _ status: latlas_status) {
        defer {
            latlas_run_free(run)
            self.run = nil
            isRunning = false
            UIApplication.shared.isIdleTimerDisabled = false
        }
        guard let json = owned(latlas_run_document(run)) else {
            failure = owned(latlas_run_error(run)) ?? "nothing was measured"
            return
        }
        let name = "latlas-\(Int(Date().timeIntervalSince1970)).json"
        let document = FileManager.default.temporaryDirectory.appendingPathComponent(name)
        do {
            try json.write(to: document, atomically: true, encoding: .utf8)
        } catch {
            failure = error.localizedDescription
            return
        }
        let tables = [latlas_run_table(run, nil, 60), latlas_run_table(run, "kurkin", 80)]
        result = Result(
            tables: tables.compactMap(owned),
            document: document,
            isPartial: status == LATLAS_CANCELLED
        )
    }
}

/// Receives the library's progress, on the measuring thread.
private final class Progress {
    let tell: (UInt64, UInt64, TimeInterval) -> Void

    init(_ tell: @escaping (UInt64, UInt64, TimeInterval) -> Void) {
        self.tell = tell
    }
}

private func measure(_ run: OpaquePointer, _ rows: [String], _ progress: Progress) -> latlas_status {
    let names: [UnsafePointer<CChar>?] = rows.map { UnsafePointer(strdup($0)) }
    defer { names.forEach { free(UnsafeMutablePointer(mutating: $0)) } }
    return FileManager.default.temporaryDirectory.path.withCString { directory in
        names.withUnsafeBufferPointer { names in
            var request = latlas_request()
            request.rows = names.isEmpty ? nil : names.baseAddress
            request.row_count = names.count
            request.directory = directory
            request.context = Unmanaged.passUnretained(progress).toOpaque()
            request.progress = { context, done, planned, _, remaining in
                guard let context else { return }
                Unmanaged<Progress>.fromOpaque(context).takeUnretainedValue()
                    .tell(done, planned, remaining)
            }
            return withExtendedLifetime(progress) { latlas_run_measure(run, &request) }
        }
    }
}
