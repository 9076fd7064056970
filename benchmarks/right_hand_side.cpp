// The right-hand side of a mechanism as one would write it by hand: Newton-Euler equations of bodies, rows of joints with their
// derivatives in closed form, Schur complement of the rows that are kept, Cholesky. A measure for what a compiler of formulas does.
#include <chrono>
#include <cmath>
#include <cstring>

namespace {
constexpr int MAX_ROWS = 48, MAX_BODIES = 8;

struct Vec { double x, y, z; };
inline Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Vec operator*(double s, Vec a) { return {s * a.x, s * a.y, s * a.z}; }
inline double dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Vec cross(Vec a, Vec b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }

struct Mat { Vec r[3]; };  // by rows
inline Vec times(const Mat& A, Vec v) { return {dot(A.r[0], v), dot(A.r[1], v), dot(A.r[2], v)}; }
inline Vec back(const Mat& A, Vec v) { return v.x * A.r[0] + v.y * A.r[1] + v.z * A.r[2]; }  // A' v

struct Port { int body; double p[3], R[9]; };                       // body -1 is the ground; p, R from the centre of mass
struct Joint { int kind; Port port[2]; };                           // 0 spherical, 1 revolute, 2 cylindrical, 3 prismatic
struct Model {
    int bodies, joints, keep[MAX_ROWS];                             // keep: 1 for rows that are not redundant
    double mass[MAX_BODIES], inertia[MAX_BODIES][9], inverse[MAX_BODIES][9], force[MAX_BODIES][3];
    Joint joint[16];
};

struct Body { Vec p, v, w; Mat R; };                                // w in world axes
struct Side { Vec arm, velocity, centripetal, axis[3], w; Mat R; }; // a frame of a joint on its body
struct Row { int body[2]; Vec linear[2], angular[2]; double gamma; };  // angular parts in body axes

Vec vec(const double* x) { return {x[0], x[1], x[2]}; }
Mat mat(const double* m) { return {{vec(m), vec(m + 3), vec(m + 6)}}; }

Mat rotation(const double* e) {
    double w = e[0], x = e[1], y = e[2], z = e[3], s = 1 / (w * w + x * x + y * y + z * z);
    return {{s * Vec{w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)},
             s * Vec{2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)},
             s * Vec{2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z}}};
}

Side side(const Port& port, const Body* bodies, Vec& at) {
    Side s;
    Mat R = mat(port.R);
    Vec axes[3] = {{R.r[0].x, R.r[1].x, R.r[2].x}, {R.r[0].y, R.r[1].y, R.r[2].y}, {R.r[0].z, R.r[1].z, R.r[2].z}};
    if (port.body < 0) {
        at = vec(port.p);
        s = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {axes[0], axes[1], axes[2]}, {0, 0, 0}, {}};
        return s;
    }
    const Body& b = bodies[port.body];
    s.arm = times(b.R, vec(port.p));
    at = b.p + s.arm;
    Vec around = cross(b.w, s.arm);
    s.velocity = b.v + around;
    s.centripetal = cross(b.w, around);
    for (int k = 0; k < 3; k++) s.axis[k] = times(b.R, axes[k]);
    s.w = b.w;
    s.R = b.R;
    return s;
}

void put(Row& row, const Joint& joint, const Side& F, const Side& G, Vec vF, Vec wF, Vec vG, Vec wG, double gamma) {
    row = {{joint.port[0].body, joint.port[1].body}, {vF, vG}, {back(F.R, wF), back(G.R, wG)}, gamma};
}

// a of the first body, b of the second, perpendicular
void perpendicular(Row& row, const Joint& joint, const Side& F, const Side& G, Vec a, Vec b) {
    Vec n = cross(a, b), ad = cross(F.w, a), bd = cross(G.w, b);
    double gamma = -(dot(cross(F.w, ad), b) + 2 * dot(ad, bd) + dot(a, cross(G.w, bd)));
    put(row, joint, F, G, {0, 0, 0}, n, {0, 0, 0}, -1.0 * n, gamma);
}

// a of the first body perpendicular to the line d between the points
void across(Row& row, const Joint& joint, const Side& F, const Side& G, Vec a, Vec d) {
    Vec ad = cross(F.w, a);
    double gamma = -(dot(cross(F.w, ad), d) + 2 * dot(ad, G.velocity - F.velocity) + dot(a, G.centripetal - F.centripetal));
    put(row, joint, F, G, -1.0 * a, cross(a, d) - cross(F.arm, a), a, cross(G.arm, a), gamma);
}

int rows_of(const Model& model, const Body* bodies, Row* rows) {
    int m = 0;
    for (int k = 0; k < model.joints; k++) {
        const Joint& joint = model.joint[k];
        Vec pF, pG;
        Side F = side(joint.port[0], bodies, pF), G = side(joint.port[1], bodies, pG);
        if (joint.kind <= 1) {
            const Vec world[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
            for (Vec e : world)
                put(rows[m++], joint, F, G, -1.0 * e, -1.0 * cross(F.arm, e), e, cross(G.arm, e), dot(e, F.centripetal - G.centripetal));
        } else {
            for (int i = 0; i < 2; i++) across(rows[m++], joint, F, G, F.axis[i], pG - pF);
        }
        if (joint.kind >= 1)
            for (int i = 0; i < 2; i++) perpendicular(rows[m++], joint, F, G, F.axis[i], G.axis[2]);
        if (joint.kind == 3) perpendicular(rows[m++], joint, F, G, F.axis[0], G.axis[1]);
    }
    return m;
}
}  // namespace

extern "C" int model_size() { return sizeof(Model); }

// Accelerations (linear in world, angular in body axes), and J if there is room for it.
extern "C" int right_hand_side(const Model* model, const double* q, const double* v, double* a, double* J) {
    Body bodies[MAX_BODIES];
    for (int i = 0; i < model->bodies; i++) {
        bodies[i].p = vec(q + 7 * i);
        bodies[i].R = rotation(q + 7 * i + 3);
        bodies[i].v = vec(v + 6 * i);
        bodies[i].w = times(bodies[i].R, vec(v + 6 * i + 3));
    }
    Row all[MAX_ROWS], rows[MAX_ROWS];
    int count = rows_of(*model, bodies, all), m = 0;
    for (int i = 0; i < count; i++)
        if (model->keep[i]) rows[m++] = all[i];
    if (J) {
        memset(J, 0, sizeof(double) * count * 6 * model->bodies);
        for (int i = 0; i < count; i++)
            for (int s = 0; s < 2; s++)
                if (all[i].body[s] >= 0) {
                    double* at = J + (i * model->bodies + all[i].body[s]) * 6;
                    memcpy(at, &all[i].linear[s], 24);
                    memcpy(at + 3, &all[i].angular[s], 24);
                }
    }
    Vec free_v[MAX_BODIES], free_w[MAX_BODIES];
    for (int i = 0; i < model->bodies; i++) {
        Vec w = vec(v + 6 * i + 3);
        free_v[i] = (1 / model->mass[i]) * vec(model->force[i]);
        free_w[i] = times(mat(model->inverse[i]), -1.0 * cross(w, times(mat(model->inertia[i]), w)));
    }
    static thread_local double S[MAX_ROWS][MAX_ROWS];
    double lam[MAX_ROWS];
    Vec Wv[MAX_ROWS][2], Ww[MAX_ROWS][2];
    for (int i = 0; i < m; i++) {
        const Row& row = rows[i];
        double right = -row.gamma;
        for (int s = 0; s < 2; s++) {
            int b = row.body[s];
            if (b < 0) continue;
            Wv[i][s] = (1 / model->mass[b]) * row.linear[s];
            Ww[i][s] = times(mat(model->inverse[b]), row.angular[s]);
            right += dot(row.linear[s], free_v[b]) + dot(row.angular[s], free_w[b]);
        }
        lam[i] = right;
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int s = 0; s < 2; s++)
                for (int r = 0; r < 2; r++)
                    if (row.body[s] >= 0 && row.body[s] == rows[j].body[r])
                        sum += dot(Wv[i][s], rows[j].linear[r]) + dot(Ww[i][s], rows[j].angular[r]);
            S[i][j] = sum;
        }
    }
    for (int i = 0; i < m; i++) {  // S = L L'
        for (int j = 0; j <= i; j++) {
            double sum = S[i][j];
            for (int k = 0; k < j; k++) sum -= S[i][k] * S[j][k];
            S[i][j] = i == j ? std::sqrt(sum) : sum / S[j][j];
        }
        for (int k = 0; k < i; k++) lam[i] -= S[i][k] * lam[k];
        lam[i] /= S[i][i];
    }
    for (int i = m - 1; i >= 0; i--) {
        for (int k = i + 1; k < m; k++) lam[i] -= S[k][i] * lam[k];
        lam[i] /= S[i][i];
    }
    for (int i = 0; i < m; i++)
        for (int s = 0; s < 2; s++) {
            int b = rows[i].body[s];
            if (b < 0) continue;
            free_v[b] = free_v[b] - lam[i] * Wv[i][s];
            free_w[b] = free_w[b] - lam[i] * Ww[i][s];
        }
    for (int i = 0; i < model->bodies; i++) {
        memcpy(a + 6 * i, &free_v[i], 24);
        memcpy(a + 6 * i + 3, &free_w[i], 24);
    }
    return count;
}

// Microseconds of a call, in a loop in which each depends on the one before.
extern "C" double microseconds(const Model* model, const double* q, const double* v, int loops) {
    double at[7 * MAX_BODIES], a[6 * MAX_BODIES] = {0};
    memcpy(at, q, sizeof(double) * 7 * model->bodies);
    auto started = std::chrono::steady_clock::now();
    for (int k = 0; k < loops; k++) {
        right_hand_side(model, at, v, a, nullptr);
        at[0] += 1e-30 * a[0];
    }
    std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - started;
    return took.count() / loops;
}
