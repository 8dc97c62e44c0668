/*
 * How a change of a store reaches a use: store, side process, driver, executors, Python workers, tasks.
 *
 * Each step is atomic and names the module that does it: *.py lie below python/sparkconfig, *.scala below
 * jvm-shim/src/main/scala/io/sparkconfig. Store A has two keys in one path (user and password), store B one key. A value
 * is the number of the change that made it; GONE is added where the store refuses ("not allowed"). The driver takes each
 * generation once, so executors and workers are described by the number of theirs: hist_* has what is in it.
 *
 * What brings nothing new (a read of what is known, a poll without news, a second failure of a store that is down) is
 * no step. So each run ends, and where it ends everything has to have converged; the last change or fault may come at any
 * time. The model leaves out: clocks (stale expiry, pauses between retries, a task's minute of patience), new references,
 * masks of older values, policies, files.
 *
 * Sizes, all given by run.py: EXECUTORS; A_CHANGES (each a new value or a refusal) and B_CHANGES of the stores; OUTAGES
 * of a store; CRASHES of the side process, also while it starts; LOST pushes and reports; DOUBLED pushes; REPLACED
 * executors; TASKS; LOGINS that are refused, or uses with fresh=True; REFRESHES by hand, which make the trigger manual.
 */
#define MANUAL (REFRESHES > 0)
#if EXECUTORS > 0
#define SEATS EXECUTORS
#else
#define SEATS 1
#endif

/* Mutants: each changes one step, and a property breaks. The last four are errors that this model found in the code. */
#define KEY_BY_KEY 1
#define OLDER_WINS 2
#define FROM_ONE 3
#define PUSH_ONCE 4
#define TASK_WITHOUT_GENERATION 5
#define OUTAGE_REVOKES 6
#define REVOCATION_IS_OUTAGE 7
#define REFUSED_ASKS_NOBODY 8
#define DUE_IGNORED 9
#define LOCKED_READ 10
#define ANSWER_OF_THE_DEAD 11
#define TASK_AS_PUBLISHED 12
#define TASK_BEFORE_ANNOUNCED 13
#define FRESH_BESIDE_A_READ 14
#ifndef SWITCH
#define SWITCH 0
#endif
#define MUTANT(name) (SWITCH == name)

/* Properties. */
mtype = { KEYS_OF_A_PATH_MIX, GOES_BACK, TASK_OLDER_THAN_ITS_DRIVER, REVOKED_VALUE_USED, OUTAGE_ENDS_A_VALUE,
  REFUSED_LOGIN_REPEATS_ITS_VALUE, WAITS_FOR_ANOTHER_STORE, DOES_NOT_CONVERGE }
#define MUST(property, ok) if :: (ok) :: else -> printf("broken: %e\n", property); assert(false) fi

#define GONE 16
#define AGE(value) ((value) & 15)
#define VALID(value) ((value) > 0 && (value) < GONE)
#define DIFFER(one, other) ((one) != (other) && !((one) >= GONE && (other) >= GONE))
#define MOST_GENERATIONS (A_CHANGES + B_CHANGES + 2)
#define A 0
#define B 1

bool calm;
byte outages = OUTAGES, crashes = CRASHES, lost = LOST, doubled = DOUBLED, replaced = REPLACED, tasks = TASKS,
  logins = LOGINS, refreshes = REFRESHES;

/* The stores. */
byte store[2] = 1;
bool down[2];
int withdrawn; /* which changes of A were refusals */

/* The side process: cache, round, and the generation that it has published. */
bool up = true, starting;
byte cache_user = 1, cache_pass = 1, cache_other = 1; /* 0: not read yet, what was inherited serves */
bool due[2], reading[2], failed[2];
byte got_user, got_pass, got_other; /* answers under way; 0: an outage */
byte known_gone; /* the newest refusal of A that it was told */
byte gen = 1, user = 1, pass = 1, other = 1;
byte told_gen; /* what a process that starts was told to continue */
byte kept_user, kept_pass, kept_other; /* before a refresh that may not stand */
bool refreshing;

/* The driver: what it holds, what executors get from it, answers not taken yet (to its watch, to a login). */
byte held = 1, news = 1;
byte hist_user[MOST_GENERATIONS + 1] = 1, hist_pass[MOST_GENERATIONS + 1] = 1, hist_other[MOST_GENERATIONS + 1] = 1;
bool filled[2], dead[2]; /* dead: from a process that has ended */
byte in_gen[2], in_user[2], in_pass[2], in_other[2];

/* The executors, and what the driver knows of each. */
typedef Executor_ {
  byte held, announced, worker; /* generations of executor, of its mapped version, of its Python worker */
  byte box; /* of the inbox; 0: empty */
  int wire; /* pushes under way, one bit each */
  byte has, sent, ahead;
  byte wanted, told /* of a task that waits: what its driver had, and what it carries; 0: none */
}
Executor_ ex[SEATS];

/* A refused login, or a use with fresh=True. */
mtype = { NONE, ASKING, READING, ANSWERED, POLLING, AGAIN }
mtype login = NONE;
byte floor, where; /* where: an executor, or EXECUTORS for the driver */

#define NEWS_OF_A DIFFER(cache_user, user) || DIFFER(cache_pass, pass)
#define LOOK_FINDS ((cache_user > 0 && (NEWS_OF_A)) || (cache_other > 0 && DIFFER(cache_other, other)))
#define FINDS_NEWS(path, value) (down[path] -> !failed[path] : (value != store[path] || failed[path]))
#define IS_DUE(path, value) (!MANUAL && !MUTANT(DUE_IGNORED) && FINDS_NEWS(path, value))

/* resolution/keeper.py: _look, _publish, _advance; resolution/inherited.py: kept */
inline look() {
  if
  :: LOOK_FINDS ->
    if
    :: cache_user > 0 ->
      MUST(OUTAGE_ENDS_A_VALUE, cache_user < GONE || (withdrawn & (1 << AGE(cache_user))));
      user = cache_user; pass = cache_pass
    :: else
    fi;
    if :: cache_other > 0 -> other = cache_other :: else fi;
    gen++;
    printf("side process: generation %d: user %d, password %d, other %d\n", gen, user, pass, other)
  :: else
  fi;
  MUST(KEYS_OF_A_PATH_MIX, user == pass);
  MUST(REVOKED_VALUE_USED, !VALID(user) || user > known_gone)
}

/* driver/Held.scala: take */
inline accept(i) {
  if
  :: (in_gen[i] > held || (MUTANT(OLDER_WINS) && in_gen[i] != held)) ->
    MUST(GOES_BACK, in_gen[i] > held && AGE(in_user[i]) >= AGE(hist_user[held]));
    held = in_gen[i];
    hist_user[held] = in_user[i]; hist_pass[held] = in_pass[i]; hist_other[held] = in_other[i];
    printf("driver: takes generation %d\n", held)
  :: else -> printf("driver: leaves generation %d aside\n", in_gen[i])
  fi;
  drop(i)
}

inline drop(i) { filled[i] = false; dead[i] = false; in_gen[i] = 0; in_user[i] = 0; in_pass[i] = 0; in_other[i] = 0 }

/* agent/service.py: _news */
inline answer(i) { filled[i] = true; in_gen[i] = gen; in_user[i] = user; in_pass[i] = pass; in_other[i] = other }

inline forget_side() {
  up = false; starting = false; refreshing = false;
  gen = 0; user = 0; pass = 0; other = 0; known_gone = 0; told_gen = 0;
  cache_user = 0; cache_pass = 0; cache_other = 0; got_user = 0; got_pass = 0; got_other = 0;
  due[A] = false; due[B] = false; reading[A] = false; reading[B] = false; failed[A] = false; failed[B] = false;
  kept_user = 0; kept_pass = 0; kept_other = 0
}

/* Who rotates, and what fails. */
active proctype World() {
end: do
  :: d_step { !calm && AGE(store[A]) <= A_CHANGES -> store[A] = AGE(store[A]) + 1;
      printf("store A: value %d\n", store[A]) }
  :: d_step { !calm && AGE(store[A]) <= A_CHANGES -> store[A] = AGE(store[A]) + 1;
      withdrawn = withdrawn | (1 << store[A]); store[A] = store[A] + GONE; printf("store A: not allowed any more\n") }
  :: d_step { !calm && store[B] <= B_CHANGES -> store[B]++; printf("store B: value %d\n", store[B]) }
  :: d_step { outages > 0 && !down[A] -> outages--; down[A] = true; printf("store A: down\n") }
  :: d_step { outages > 0 && !down[B] -> outages--; down[B] = true; printf("store B: down\n") }
  :: d_step { !calm && down[A] -> down[A] = false; printf("store A: up\n") }
  :: d_step { !calm && down[B] -> down[B] = false; printf("store B: up\n") }
  :: d_step { crashes > 0 && (up || starting) -> crashes--; forget_side(); dead[0] = filled[0]; dead[1] = filled[1];
      if :: login == ASKING || login == READING -> login = NONE; floor = 0; where = 0 :: else fi;
      printf("side process: ends\n") }
  :: d_step { !calm -> calm = true; outages = 0; crashes = 0; lost = 0; doubled = 0; replaced = 0; tasks = 0;
      logins = 0; refreshes = 0; printf("from here on nothing changes or fails\n") }
  od
}

/* resolution/cache.py, resolution/cache_read.py: one read at a time for each path, on a thread of its own. */
active proctype Cache() {
end: do
  :: d_step { up && !reading[A] && (due[A] || IS_DUE(A, cache_user)) -> /* get, peek */
      reading[A] = true; got_user = (down[A] -> 0 : store[A]); got_pass = (MUTANT(KEY_BY_KEY) -> 0 : got_user);
      printf("cache: reads A\n") }
  :: d_step { MUTANT(KEY_BY_KEY) && reading[A] && got_user > 0 && got_pass == 0 && !down[A] -> got_pass = store[A];
      printf("cache: reads the second key of A\n") }
  :: d_step { reading[A] && (got_user == 0 || got_pass > 0) -> /* _read, _during_outage */
      reading[A] = false; due[A] = false;
      if
      :: got_user == 0 -> failed[A] = true; printf("cache: A is not reached\n");
        if
        :: MUTANT(OUTAGE_REVOKES) && cache_user > 0 -> cache_user = AGE(cache_user) + GONE; cache_pass = cache_user
        :: else
        fi;
        if :: login == READING -> login = NONE; floor = 0; where = 0 :: else fi /* the last values serve */
      :: got_user > 0 -> failed[A] = false; printf("cache: A has answered %d\n", got_user);
        if :: got_user >= GONE -> known_gone = AGE(got_user) :: else fi;
        if
        :: MUTANT(REVOCATION_IS_OUTAGE) && got_user >= GONE
        :: else -> cache_user = got_user; cache_pass = got_pass
        fi
      fi;
      got_user = 0; got_pass = 0 }
  :: d_step { up && !reading[B] && (due[B] || IS_DUE(B, cache_other)) ->
      reading[B] = true; got_other = (down[B] -> 0 : store[B]); printf("cache: reads B\n") }
  :: d_step { reading[B] -> reading[B] = false; due[B] = false;
      if :: got_other == 0 -> failed[B] = true :: else -> failed[B] = false; cache_other = got_other fi;
      got_other = 0; printf("cache: B has answered\n") }
  od
}

#define FREE (!MUTANT(LOCKED_READ) || !reading[B]) /* the lock of a round */

active proctype SideProcess() {
end: do
  :: d_step { up && !MANUAL && FREE && LOOK_FINDS -> look() } /* resolution/round_thread.py */
  :: d_step { up && gen > held && !filled[0] -> /* agent/service.py: _await_change */
      answer(0); printf("side process: answers the watch\n") }
  /* With the manual trigger: agent/application.py: refresh; resolution/cache.py: keep, expire, restore */
  :: d_step { refreshes > 0 && up && !refreshing && !reading[A] && !reading[B] -> refreshes--; refreshing = true;
      kept_user = cache_user; kept_pass = cache_pass; kept_other = cache_other; due[A] = true; due[B] = true;
      printf("operator: refresh\n") }
  :: d_step { refreshing && !due[A] && !due[B] ->
      if
      :: failed[A] || failed[B] || cache_user >= GONE ->
        cache_user = kept_user; cache_pass = kept_pass; cache_other = kept_other; failed[A] = false; failed[B] = false;
        printf("side process: the refresh does not stand\n")
      :: else -> look()
      fi;
      kept_user = 0; kept_pass = 0; kept_other = 0; refreshing = false }
  /* agent/Supervisor.scala: restart, Number; driver/Held.scala: continuedOver; agent/service.py: _start */
  :: d_step { !up && !starting -> starting = true; told_gen = held;
      if
      :: !MUTANT(ANSWER_OF_THE_DEAD) && dead[0] -> drop(0)
      :: else
      fi;
      if
      :: !MUTANT(ANSWER_OF_THE_DEAD) && dead[1] -> drop(1); login = NONE; floor = 0; where = 0
      :: else
      fi;
      printf("driver: tells a new side process generation %d\n", told_gen) }
  :: d_step { starting -> starting = false; up = true; gen = (MUTANT(FROM_ONE) -> 1 : told_gen);
      user = hist_user[told_gen]; pass = hist_pass[told_gen]; other = hist_other[told_gen]; told_gen = 0;
      printf("side process: starts with generation %d\n", gen) }
  od
}

active proctype Driver() {
end: do
  :: d_step { filled[0] -> accept(0) } /* driver/DriverValues.scala: watchLoop */
  :: d_step { news != held -> /* executor/ExecutorService.scala: publish */
      news = held; printf("driver: publishes generation %d\n", news) }
  od
}

/* executor/Inbox.scala: put. A push that arrives takes the place of one that waits there. */
#define ARRIVES(g) \
  :: d_step { (ex[e].wire & (1 << g)) -> ex[e].wire = ex[e].wire & ~(1 << g); ex[e].box = g; \
      printf("executor %d: push of %d arrives\n", e, g) } \
  :: d_step { doubled > 0 && (ex[e].wire & (1 << g)) -> doubled--; ex[e].box = g; \
      printf("executor %d: push of %d arrives, and will again\n", e, g) } \
  :: d_step { lost > 0 && (ex[e].wire & (1 << g)) -> lost--; ex[e].wire = ex[e].wire & ~(1 << g); \
      printf("executor %d: push of %d is lost\n", e, g) }

/* executor/ExecutorValues.scala: take, accept */
inline take(g) {
  if
  :: g > ex[e].held || (MUTANT(OLDER_WINS) && g > 0) ->
    MUST(GOES_BACK, g >= ex[e].held);
    ex[e].held = g; printf("executor %d: takes %d\n", e, g)
  :: else
  fi
}

/* executor/Pushes.scala: has, by a report or a question */
inline report() { ex[e].has = ex[e].held; ex[e].ahead = 0 }

#define BEHIND(generation) ((MUTANT(TASK_BEFORE_ANNOUNCED) -> ex[e].held : ex[e].announced) < generation)

/* The driver's executor/Pushes.scala; executor/ExecutorValues.scala, executor/workers/*.scala; worker.py */
proctype Executor(byte e) {
end: do
  :: d_step { news > ex[e].has && news > ex[e].sent && ex[e].ahead < 3 -> /* Pushes: sendAll */
      ex[e].sent = news; ex[e].ahead++; ex[e].wire = ex[e].wire | (1 << news);
      printf("driver: pushes %d to executor %d\n", news, e) }
  :: d_step { !MUTANT(PUSH_ONCE) && ex[e].sent > ex[e].has && news > ex[e].has && ex[e].ahead < 3 ->
      ex[e].sent = ex[e].has; /* Pushes: takeAgain */
      printf("driver: has no report of executor %d\n", e) }
  ARRIVES(2) ARRIVES(3) ARRIVES(4) ARRIVES(5)
  :: d_step { ex[e].box > 0 -> take(ex[e].box); ex[e].box = 0; report() } /* receive */
  :: d_step { lost > 0 && ex[e].box > 0 -> lost--; take(ex[e].box); ex[e].box = 0;
      printf("executor %d: its report is lost\n", e) }
  :: d_step { !MUTANT(PUSH_ONCE) && (ex[e].held < news || ex[e].has < ex[e].held) ->
      take(news); report() } /* ExecutorValues: poll, refresh, reach */
  :: d_step { ex[e].announced != ex[e].held -> ex[e].announced = ex[e].held; /* WorkerServer: publish */
      printf("executor %d: announces %d\n", e, ex[e].held) }
  :: d_step { tasks > 0 && ex[e].wanted == 0 -> tasks--; /* driver/Application.scala: the property of tasks */
      ex[e].wanted = held; ex[e].told = (MUTANT(TASK_AS_PUBLISHED) -> news : held);
      printf("driver: submits a task to executor %d\n", e) }
  /* ExecutorSide: onTaskStart, reach; then the first use of its worker, worker.py: current, _newest */
  :: d_step { ex[e].wanted > 0 && (MUTANT(TASK_WITHOUT_GENERATION) || !BEHIND(ex[e].told)) ->
      if
      :: ex[e].announced != ex[e].worker -> MUST(GOES_BACK, ex[e].held >= ex[e].worker); ex[e].worker = ex[e].held
      :: else
      fi;
      printf("worker %d: a task begins with %d\n", e, ex[e].worker);
      MUST(TASK_OLDER_THAN_ITS_DRIVER, ex[e].worker >= ex[e].wanted);
      ex[e].wanted = 0; ex[e].told = 0 }
  :: d_step { replaced > 0 -> replaced--; ex[e].held = 0; ex[e].announced = 0; ex[e].worker = 0; ex[e].box = 0;
      ex[e].wire = 0; ex[e].has = 0; ex[e].sent = 0; ex[e].ahead = 0; printf("executor %d: is replaced\n", e) }
  od
}

#define HELD(who) (who == EXECUTORS -> held : ex[who].held)
#define USED(who) hist_user[HELD(who)]

/* A refused login of `who`, or current(text, fresh=True) on the driver. */
#define REFUSED(who, least) \
  :: d_step { logins > 0 && login == NONE && VALID(USED(who)) && VALID(store[A]) && USED(who) != store[A] -> logins--; \
      where = who; floor = least; login = (MUTANT(REFUSED_ASKS_NOBODY) -> AGAIN : ASKING); \
      printf("login of %d (%d is the driver): value %d is refused\n", who, EXECUTORS, USED(who)) }
#define END_OF_LOGIN login = NONE; floor = 0; where = 0

/* core/Renewal.scala, driver/DriverValues.scala: renew, useFresh; executor/Renewals.scala;
   agent/application.py: renew, read_now; resolution/cache.py: renew */
active proctype Login() {
end: do
  REFUSED(EXECUTORS, USED(EXECUTORS) + 1)
  REFUSED(EXECUTORS, store[A]) /* fresh */
#if EXECUTORS > 0
  REFUSED(0, USED(0) + 1)
#endif
  :: d_step { login == ASKING && AGE(hist_user[held]) >= floor -> login = POLLING } /* others were refused before */
  :: d_step { login == ASKING && !up -> END_OF_LOGIN } /* the last values serve, until the side process is back */
  :: d_step { login == ASKING && up && AGE(hist_user[held]) < floor && (MUTANT(FRESH_BESIDE_A_READ) || !reading[A]) ->
      due[A] = true; login = READING; printf("login: has A read\n") }
  :: d_step { login == READING && !reading[A] && !due[A] && FREE -> look(); answer(1); login = ANSWERED;
      printf("side process: answers the login\n") }
  :: d_step { login == ANSWERED -> accept(1); login = POLLING }
  :: d_step { login == POLLING && (where == EXECUTORS || ex[0].held >= news) && news == held -> login = AGAIN }
  :: d_step { login == AGAIN ->
      MUST(REFUSED_LOGIN_REPEATS_ITS_VALUE, !VALID(USED(where)) || USED(where) >= floor); /* none is an error */
      printf("login: tries again with %d\n", USED(where)); END_OF_LOGIN }
  od
}

#define WAITS (login == READING && !reading[A] && !due[A] && !FREE)
#define AS_STORE(path, value) (down[path] || MANUAL || !DIFFER(value, store[path]))

active proctype Observer() {
  byte each;
end: do
  :: d_step { WAITS -> MUST(WAITS_FOR_ANOTHER_STORE, false) }
  :: timeout -> d_step { /* nothing is left to do */
      MUST(DOES_NOT_CONVERGE, up && held == gen && news == held && login == NONE && !refreshing);
      MUST(DOES_NOT_CONVERGE, AS_STORE(A, user) && AS_STORE(B, other));
      MUST(DOES_NOT_CONVERGE, !DIFFER(hist_user[held], user) && !DIFFER(hist_other[held], other));
      for (each : 0 .. EXECUTORS - 1) {
        MUST(DOES_NOT_CONVERGE, ex[each].held == held && ex[each].announced == held && ex[each].wanted == 0)
      } };
    break
  od;
endAll: false
}

init {
  byte each;
  atomic {
    for (each : 0 .. EXECUTORS - 1) {
      ex[each].held = 1; ex[each].announced = 1; ex[each].worker = 1; ex[each].has = 1; ex[each].sent = 1;
      run Executor(each)
    }
  }
}
